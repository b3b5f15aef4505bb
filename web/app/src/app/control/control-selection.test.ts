import { describe, expect, it } from 'vitest';
import { preparingGeneration } from '../live/pipeline';
import { CHOICES, generationOf, pipelineWith, TWO_JOINS } from './control-samples';
import {
  choicesOf,
  messageOf,
  submitState,
  remainingSelection,
  selectionFor,
  type ControlSelection,
} from './control-selection';

const RUNNING = { usersTopic: 'users', accountsTopic: 'accounts_v2', joinType: 'left' };

function submit(selection: ControlSelection, pipeline = pipelineWith()) {
  return submitState(choicesOf(CHOICES, pipeline, selection), preparingGeneration(pipeline));
}

describe('the choices', () => {
  it('have every topic for each source and every type for each join, and what runs', () => {
    const [users, accounts, final] = choicesOf(CHOICES, pipelineWith(), {});
    expect(users).toMatchObject({ field: 'usersTopic', running: 'users', chosen: 'users' });
    expect(users!.options).toEqual(CHOICES.topics);
    expect(accounts).toMatchObject({ running: 'accounts_v2' });
    expect(final).toMatchObject({ kind: 'type', running: 'left', options: CHOICES.types });
  });

  it('take what runs from the pipeline, or else from the gateway’s choices', () => {
    const other = pipelineWith(generationOf(5, 'current', {}, 'users_v2', 'inner'));
    const [users, , final] = choicesOf(CHOICES, { ...other, current: 5 }, {});
    expect([users!.running, final!.running]).toEqual(['users_v2', 'inner']);
    expect(choicesOf(CHOICES, undefined, {}).map(({ running }) => running)).toEqual(
      Object.values(RUNNING),
    );
  });

  it('have what runs and what is selected, also if the list has them no more', () => {
    const few = { ...CHOICES, topics: ['accounts'] };
    const [users] = choicesOf(few, pipelineWith(), { usersTopic: 'users_v2' });
    expect(users!.options).toEqual(['accounts', 'users', 'users_v2']);
  });
});

describe('the message', () => {
  it('has all fields, so that the result is what the form shows', () => {
    const choices = choicesOf(CHOICES, pipelineWith(), { joinType: 'asof' });
    expect(messageOf(choices)).toEqual({ ...RUNNING, joinType: 'asof' });
  });

  it('has no unknown values', () => {
    const bare = { ...CHOICES, joins: [{ name: 'final', field: 'joinType', type: '' }] };
    expect(messageOf(choicesOf(bare, undefined, {}))).not.toHaveProperty('joinType');
  });
});

describe('the submit button', () => {
  it('says what happens', () => {
    expect(submit({ usersTopic: 'users_v2', joinType: 'asof' })).toMatchObject({
      label: 'Switch to users_v2, as-of join',
      reason: '',
    });
    expect(submit({ accountsTopic: 'accounts' }).label).toBe('Switch to accounts');
  });

  it('names the join if there are several', () => {
    const choices = choicesOf(TWO_JOINS, pipelineWith(), { otherJoinType: 'asof' });
    expect(submitState(choices, undefined).label).toBe('Switch to other: as-of join');
  });

  it('is disabled if nothing differs, with a reason', () => {
    expect(submit({}).reason).toMatch(/this is what runs/);
    expect(submit({ usersTopic: 'users' }).reason).toMatch(/this is what runs/);
  });

  it('is disabled if two sources have the same topic', () => {
    expect(submit({ usersTopic: 'accounts_v2' }).reason).toBe(
      'Duplicate topic: users and accounts would both read accounts_v2.',
    );
  });

  const coming = pipelineWith(generationOf(4, 'preparing', {}, 'users_v2'));

  it('is disabled for what is being prepared', () => {
    expect(submit({ usersTopic: 'users_v2' }, coming).reason).toBe(
      'Generation 4 is already being prepared with these values.',
    );
  });

  it('has a reason if nothing runs yet', () => {
    const bare = {
      ...CHOICES,
      sources: CHOICES.sources.map((one) => ({ ...one, topic: '' })),
      joins: CHOICES.joins.map((one) => ({ ...one, type: '' })),
    };
    const first = { ...pipelineWith(), current: 0, generations: [generationOf(1, 'preparing')] };
    const at = (selection: ControlSelection) =>
      submitState(choicesOf(bare, first, selection), preparingGeneration(first));
    expect(at({})).toEqual({
      label: 'Switch',
      reason: 'Select a topic or a join type. Nothing runs yet.',
      hint: '',
    });
    expect(at({ joinType: 'asof' })).toEqual({
      label: 'Switch to as-of join',
      reason: '',
      hint: 'Generation 1 (users, accounts_v2, left join), which is being prepared, is cancelled.',
    });
    expect(messageOf(choicesOf(bare, first, { joinType: 'asof' }))).toEqual({ joinType: 'asof' });
  });

  it('cancels what is being prepared', () => {
    const cancelled =
      'Generation 4 (users_v2, accounts_v2, left join), which is being prepared, is cancelled.';
    expect(submit({ joinType: 'inner' }, coming)).toEqual({
      label: 'Switch to inner join',
      reason: '',
      hint: cancelled,
    });
    expect(submit({}, coming)).toEqual({ label: 'Keep what runs', reason: '', hint: cancelled });
    const hidden = pipelineWith(generationOf(4, 'preparing', { sources: [], joins: [] }));
    expect(submit({}, hidden).hint).toBe('Generation 4, which is being prepared, is cancelled.');
  });
});

describe('an applied message', () => {
  const sent = { ...RUNNING, joinType: 'asof' };

  it('is removed from the selection, so that it does not undo later messages', () => {
    const selection = remainingSelection({ joinType: 'asof' }, sent);
    expect(selection).toEqual({});
    // Another user switches back to the left join, and this one selects another topic.
    const back = choicesOf(CHOICES, pipelineWith(), { ...selection, usersTopic: 'users_v2' });
    expect(messageOf(back)).toEqual({ ...RUNNING, usersTopic: 'users_v2' });
  });

  it('leaves what was selected since', () => {
    const chosen = { joinType: 'inner', usersTopic: 'users', accountsTopic: 'accounts' };
    expect(remainingSelection(chosen, sent)).toEqual({
      joinType: 'inner',
      accountsTopic: 'accounts',
    });
  });
});

it('an earlier generation is selected by its values', () => {
  const choices = choicesOf(CHOICES, pipelineWith(), {});
  const values = { usersTopic: 'users_v2', accountsTopic: 'accounts', joinType: 'inner' };
  expect(selectionFor({ ...values, other: 'x' }, choices)).toEqual(values);
  expect(selectionFor({ usersTopic: 'users_v2' }, choices)).toBeUndefined();
  expect(selectionFor(values, [])).toBeUndefined();
});
