import { describe, expect, it } from 'vitest';
import { progressText, share } from '../live/pipeline';
import { sentence } from '../format/sentence';
import { pipelineWith } from './control-samples';
import { stateBadge, verdictBadge } from './badge-labels';
import {
  afterNewestVerdict,
  isApplied,
  judgedMessage,
  judgedSince,
  messageText,
  verdictText,
  type JudgedMessage,
} from './judged-message';

describe('a message', () => {
  it('is shown by its fields', () => {
    const { fields } = messageText('{"usersTopic": "users_v2", "joinType": "asof"}');
    expect(fields).toEqual([
      { name: 'usersTopic', value: 'users_v2' },
      { name: 'joinType', value: 'asof' },
    ]);
  });

  it.each(['', 'hello', '[1]', '{}', 'null', '"x"', '{"usersTopic": 7}', '{"a": {"b": "c"}}'])(
    '%j is shown as it is',
    (text) => expect(messageText(text)).toEqual({ fields: [], text }),
  );

  it('is cut if it is too long', () => {
    expect(messageText(`{"usersTopic": "${'x'.repeat(5000)}"}`)).toMatchObject({ fields: [] });
    expect(messageText('x'.repeat(5000)).text).toHaveLength(241);
  });
});

describe('a verdict', () => {
  const judged = judgedMessage({
    _id: '0:12',
    message: '{}',
    verdict: 'applied',
    reason: null,
    generation: 5,
    by: null,
    decided: 1_767_225_611_000_000,
    ts: 1_767_225_600_000_000,
  });
  const textOf = (change: Partial<JudgedMessage>) =>
    verdictText({ ...judged, ...change }, pipelineWith(), judged.decided);

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

  it('from before the message was sent is ignored', () => {
    const row = { _id: '0:12', verdict: 'applied', decided: 1_767_225_611_000_400 };
    const since = afterNewestVerdict({ rows: [{ decided: '2026-01-01T00:00:11.000400Z' }] });
    expect(judgedSince(row, since)).toBeUndefined();
    expect(judgedSince({ ...row, decided: 1_767_225_611_001_400 }, since)).toMatchObject({
      verdict: 'applied',
    });
    expect(judgedSince(row, afterNewestVerdict({ rows: [] }))).toMatchObject({
      verdict: 'applied',
    });
    expect(judgedSince(row, afterNewestVerdict({ rows: [{ decided: null }] }))).toBeDefined();
    expect(judgedSince(undefined, since)).toBeUndefined();
  });

  it.each([
    ['waiting', '', /has read the message/],
    ['preparing', '', /^Generation 5 is being prepared/],
    ['applied', '', /^Live since \d\d:\d\d:\d\d, as generation 5\.$/],
    ['superseded', 'Message 0:13 came first.', /later message\. Message 0:13 came first\.$/],
    ['ignored', 'Generation 4 is just that', /nothing to change\. Generation 4 is just that\.$/],
    ['invalid', 'it is not valid JSON', /^Invalid message.* It is not valid JSON\.$/],
    ['failed', 'topic x does not exist', / failed; .* keeps running\. Topic x does not exist\.$/],
    ['pondered', 'so', /^Pondered\. So\.$/],
  ])('%s has a text', (verdict, reason, expected) => {
    expect(textOf({ verdict, reason })).toMatch(expected);
  });

  it('is applied when the known state of the pipeline is not older', () => {
    const pipeline = pipelineWith();
    const beat = (millis: number) => ({ ...pipeline, beat: 1000 * millis });
    expect(isApplied(judged, { ...pipeline, current: 5 })).toBe(true);
    expect(isApplied(judged, beat(judged.decided - 1))).toBe(false);
    expect(isApplied(judged, beat(judged.decided + 1))).toBe(true);
    expect(isApplied(judged, undefined)).toBe(true);
  });

  it.each([
    ['applied', true],
    ['ignored', true],
    ['waiting', false],
    ['preparing', false],
    ['superseded', false],
    ['invalid', false],
    ['failed', false],
  ])('%s is applied: %s', (verdict, expected) => {
    expect(isApplied({ ...judged, verdict }, undefined)).toBe(expected);
  });

  it('that is missing has a text for why', () => {
    const pipeline = pipelineWith();
    expect(verdictText(undefined, pipeline, 0)).toMatch(/has not read it yet/);
    expect(verdictText(undefined, { ...pipeline, state: 'gone' }, 0)).toMatch(
      /is not running; it reads the message when it starts/,
    );
  });

  it('has a badge, also if it is unknown', () => {
    expect(verdictBadge('failed')).toEqual({ label: 'Failed', tone: 'bad' });
    expect(verdictBadge('pondered')).toEqual({ label: 'pondered', tone: 'calm' });
    expect(stateBadge('retiring').label).toBe('Replaced');
    expect(stateBadge('asleep').label).toBe('asleep');
  });
});

it('progress is never rounded up', () => {
  expect(share(999, 1000)).toBe('99%');
  expect(share(0, 0)).toBe('0%');
  expect(share(7, 5)).toBe('100%');
  expect(progressText({ step: 'writing the past', done: 1200, total: 5000 })).toBe(
    'Writing the past: 1,200 of 5,000 (24%)',
  );
  expect(progressText({ step: 'writing', done: 0, total: 0 })).toBe('Writing');
});

it('texts become sentences', () => {
  expect(sentence('topic x is gone')).toBe('Topic x is gone.');
  expect(sentence('Why?')).toBe('Why?');
  expect(sentence(' ')).toBe('');
});
