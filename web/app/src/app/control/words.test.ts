import { describe, expect, it } from 'vitest';
import { progressWords, share } from '../live/pipeline';
import { sentence } from '../words/sentence';
import { pipelineWith } from './samples';
import { verdictSentence } from './verdict-words';
import {
  afterAll,
  hasComeTrue,
  judgedOf,
  judgedSince,
  messageShown,
  stateBadge,
  verdictBadge,
  type Judged,
} from './words';

describe('a message', () => {
  it('is shown by its fields', () => {
    const { fields } = messageShown('{"usersTopic": "users_v2", "joinType": "asof"}');
    expect(fields).toEqual([
      { name: 'usersTopic', value: 'users_v2' },
      { name: 'joinType', value: 'asof' },
    ]);
  });

  it.each(['', 'hello', '[1]', '{}', 'null', '"x"', '{"usersTopic": 7}', '{"a": {"b": "c"}}'])(
    '%j is shown as it is',
    (text) => expect(messageShown(text)).toEqual({ fields: [], text }),
  );

  it('is not longer than anybody would read', () => {
    expect(messageShown(`{"usersTopic": "${'x'.repeat(5000)}"}`)).toMatchObject({ fields: [] });
    expect(messageShown('x'.repeat(5000)).text).toHaveLength(241);
  });
});

describe('a verdict', () => {
  const judged = judgedOf({
    _id: '0:12',
    message: '{}',
    verdict: 'applied',
    reason: null,
    generation: 5,
    by: null,
    decided: 1_767_225_611_000_000,
    ts: 1_767_225_600_000_000,
  });
  const say = (change: Partial<Judged>) =>
    verdictSentence({ ...judged, ...change }, pipelineWith(), judged.decided);

  it('is read from its row', () => {
    expect(judged).toEqual({
      id: '0:12',
      message: '{}',
      verdict: 'applied',
      reason: '',
      generation: 5,
      by: '',
      asked: 1_767_225_600_000,
      decided: 1_767_225_611_000,
    });
  });

  it('from before the message was sent is none', () => {
    const row = { _id: '0:12', verdict: 'applied', decided: 1_767_225_611_000_400 };
    const since = afterAll({ rows: [{ decided: '2026-01-01T00:00:11.000400Z' }] });
    expect(judgedSince(row, since)).toBeUndefined();
    expect(judgedSince({ ...row, decided: 1_767_225_611_001_400 }, since)).toMatchObject({
      verdict: 'applied',
    });
    expect(judgedSince(row, afterAll({ rows: [] }))).toMatchObject({ verdict: 'applied' });
    expect(judgedSince(row, afterAll({ rows: [{ decided: null }] }))).toBeDefined();
    expect(judgedSince(undefined, since)).toBeUndefined();
  });

  it.each([
    ['waiting', '', /has read it/],
    ['preparing', '', /^Generation 5 is being prepared/],
    ['applied', '', /^Live since \d\d:\d\d:\d\d, as generation 5\.$/],
    ['superseded', 'Message 0:13 came first.', /later message .* Message 0:13 came first\.$/],
    ['ignored', 'Generation 4 is just that', /nothing to do\. Generation 4 is just that\.$/],
    ['invalid', 'it is not valid JSON', /cannot be done.* It is not valid JSON\.$/],
    ['failed', 'topic x does not exist', /could not be made.* runs on\. Topic x does not exist\.$/],
    ['pondered', 'so', /^Pondered\. So\.$/],
  ])('%s is a sentence', (verdict, reason, expected) => {
    expect(say({ verdict, reason })).toMatch(expected);
  });

  it('has come true when the pipeline that is told of is not from before it', () => {
    const pipeline = pipelineWith();
    const beat = (millis: number) => ({ ...pipeline, beat: 1000 * millis });
    expect(hasComeTrue(judged, { ...pipeline, current: 5 })).toBe(true);
    expect(hasComeTrue(judged, beat(judged.decided - 1))).toBe(false);
    expect(hasComeTrue(judged, beat(judged.decided + 1))).toBe(true);
    expect(hasComeTrue(judged, undefined)).toBe(true);
  });

  it.each([
    ['applied', true],
    ['ignored', true],
    ['waiting', false],
    ['preparing', false],
    ['superseded', false],
    ['invalid', false],
    ['failed', false],
  ])('%s has come true: %s', (verdict, expected) => {
    expect(hasComeTrue({ ...judged, verdict }, undefined)).toBe(expected);
  });

  it('that is not there yet says what it waits for', () => {
    const pipeline = pipelineWith();
    expect(verdictSentence(undefined, pipeline, 0)).toMatch(/has not looked at it yet/);
    expect(verdictSentence(undefined, { ...pipeline, state: 'gone' }, 0)).toMatch(
      /does not run now, and reads it when it is back/,
    );
  });

  it('has a badge, also one that this page does not know', () => {
    expect(verdictBadge('failed')).toEqual({ label: 'Failed', tone: 'bad' });
    expect(verdictBadge('pondered')).toEqual({ label: 'pondered', tone: 'calm' });
    expect(stateBadge('retiring').label).toBe('Replaced');
    expect(stateBadge('asleep').label).toBe('asleep');
  });
});

it('progress is never said to be more than it is', () => {
  expect(share(999, 1000)).toBe('99%');
  expect(share(0, 0)).toBe('0%');
  expect(share(7, 5)).toBe('100%');
  expect(progressWords({ step: 'writing the past', done: 1200, total: 5000 })).toBe(
    'Writing the past: 1,200 of 5,000 (24%)',
  );
  expect(progressWords({ step: 'writing', done: 0, total: 0 })).toBe('Writing');
});

it('words become sentences', () => {
  expect(sentence('topic x is gone')).toBe('Topic x is gone.');
  expect(sentence('Why?')).toBe('Why?');
  expect(sentence(' ')).toBe('');
});
