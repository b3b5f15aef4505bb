import type { Row } from '@evergrid/client';
import { describe, expect, it } from 'vitest';
import {
  JOINED_COLUMNS,
  pipelineOf,
  QUARANTINE_COLUMNS,
  SOURCE_COLUMNS,
  TABLES,
} from '../live/table-samples';
import { generationOf, pipelineWith } from '../control/control-samples';
import {
  joinedRowFilters,
  identityFilter,
  isOnOtherTopic,
  joinOf,
  messageFilters,
  originsOf,
  sourceOf,
} from './row-origin';

const equals = (column: string, value: number | string) => ({ column, op: 'equals', value });
const ROW: Row = {
  _id: '0:17',
  _users_topic: 'users',
  _users_partition: 0,
  _users_offset: 17,
  _users_ts: 1,
  _accounts_topic: 'accounts_v2',
  _accounts_partition: 1,
  _accounts_offset: 9007199254740993n,
  _accounts_ts: 2,
};

describe('the messages of a joined row', () => {
  it('are those that its trace columns name, with the tables that show them', () => {
    expect(originsOf(ROW, JOINED_COLUMNS, pipelineOf('left'), TABLES)).toEqual([
      {
        source: 'users',
        table: 'users_ui',
        topic: 'users',
        message: { source: 'users', topic: 'users', partition: 0, offset: 17, ts: 1 },
      },
      {
        source: 'accounts',
        table: 'accounts_ui',
        topic: 'accounts_v2',
        message: {
          source: 'accounts',
          topic: 'accounts_v2',
          partition: 1,
          offset: 9007199254740993n,
          ts: 2,
        },
      },
    ]);
  });

  it('are missing where nothing matched', () => {
    const alone = {
      ...ROW,
      _accounts_topic: null,
      _accounts_partition: null,
      _accounts_offset: null,
    };
    const [users, accounts] = originsOf(alone, JOINED_COLUMNS, pipelineOf('left'), TABLES);
    expect(users!.message).toBeDefined();
    expect(accounts!.message).toBeUndefined();
  });

  it('are found without a pipeline where tables are called after their sources', () => {
    const tables = originsOf(ROW, JOINED_COLUMNS, undefined, TABLES).map(({ table }) => table);
    expect(tables).toEqual(['users_ui', 'accounts_ui']);
    expect(originsOf(ROW, JOINED_COLUMNS, undefined, [])[0]!.table).toBeUndefined();
  });

  it('are elsewhere where the row at their place has another time', () => {
    const [users] = originsOf(ROW, JOINED_COLUMNS, pipelineOf('left'), TABLES);
    const there = { _id: '0:17', ts: 1 };
    expect(isOnOtherTopic(users!, there)).toBe(false);
    expect(isOnOtherTopic(users!, { ...there, ts: 5 })).toBe(true);
    const [timeless] = originsOf({ ...ROW, _users_ts: null }, JOINED_COLUMNS, undefined, TABLES);
    expect(isOnOtherTopic(timeless!, { ...there, ts: 5 })).toBe(false);
  });

  it('are elsewhere where there is no such row and the table shows another topic', () => {
    const pipeline = pipelineOf('left');
    const there = (topic: string, told = true): boolean => {
      const row = { ...ROW, _users_topic: topic };
      return isOnOtherTopic(
        originsOf(row, JOINED_COLUMNS, told ? pipeline : undefined, TABLES)[0]!,
        undefined,
      );
    };
    expect([there('users'), there('users_v1'), there('users_v1', false)]).toEqual([
      false,
      true,
      false,
    ]);
  });

  it('are none for a row of a source', () => {
    expect(originsOf(ROW, SOURCE_COLUMNS, pipelineOf('left'), TABLES)).toEqual([]);
  });

  it('are looked up exactly, also beyond what a number holds', () => {
    expect(messageFilters(1, 9007199254740993n)).toEqual([
      equals('_partition', 1),
      equals('_offset', '9007199254740993'),
    ]);
    expect(joinedRowFilters('users', 0, 17)).toEqual([
      equals('_users_partition', 0),
      equals('_users_offset', 17),
    ]);
  });
});

it('a row of a source is of the topic of its own generation, while that is told of', () => {
  const pipeline = pipelineWith(generationOf(2, 'retiring', {}, 'users_v1'));
  const topic = (generation: number) => sourceOf('users_ui', pipeline, generation)?.topic;
  expect([topic(3), topic(2), topic(1)]).toEqual(['users', 'users_v1', undefined]);
  expect(sourceOf('users_ui', undefined, 3)).toBeUndefined();
});

describe('a row is found again by its id', () => {
  const find = (id: string, type: string) =>
    identityFilter(id, JOINED_COLUMNS, joinOf('final_ui', pipelineOf(type)));
  const users = [equals('_users_partition', 0), equals('_users_offset', 17)];
  const accounts = [equals('_accounts_partition', 0), equals('_accounts_offset', 17)];

  it('by the message that drives the join', () => {
    expect(find('0:17', 'left')).toEqual({ or: [{ and: users }] });
    expect(find('0:17', 'asof')).toEqual({ or: [{ and: accounts }] });
  });

  it('by both messages of an inner join', () => {
    const other = [equals('_accounts_partition', 1), equals('_accounts_offset', 240)];
    expect(find('0:17:1:240', 'inner')).toEqual({ and: [...users, ...other] });
  });

  it('by either where the join is not known', () => {
    expect(identityFilter('0:17', JOINED_COLUMNS, undefined)).toEqual({
      or: [{ and: users }, { and: accounts }],
    });
  });

  it('by its own place in a source and in the quarantine', () => {
    const place = [equals('_partition', 0), equals('_offset', 17)];
    expect(identityFilter('0:17', SOURCE_COLUMNS, undefined)).toEqual({ and: place });
    expect(identityFilter('123:0:17', QUARANTINE_COLUMNS, undefined)).toEqual({
      and: [equals('topic', '123'), ...place],
    });
  });

  it('by nothing if it is no id of such a table', () => {
    expect(identityFilter('17', SOURCE_COLUMNS, undefined)).toBeUndefined();
    expect(identityFilter('1:2:3', JOINED_COLUMNS, undefined)).toBeUndefined();
  });
});
