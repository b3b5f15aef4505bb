import { describe, expect, it } from 'vitest';
import { comingGeneration } from '../live/pipeline';
import { CHOICES, generationOf, pipelineWith, TWO_JOINS } from './samples';
import { choicesOf, messageOf, offerOf, stillWished, wishFor, type Wish } from './wish';

const RUNNING = { usersTopic: 'users', accountsTopic: 'accounts_v2', joinType: 'left' };

function offer(wish: Wish, pipeline = pipelineWith()) {
  return offerOf(choicesOf(CHOICES, pipeline, wish), comingGeneration(pipeline));
}

describe('what can be chosen', () => {
  it('is every topic for each source and every type for each join, with what runs', () => {
    const [users, accounts, final] = choicesOf(CHOICES, pipelineWith(), {});
    expect(users).toMatchObject({ field: 'usersTopic', running: 'users', chosen: 'users' });
    expect(users!.options).toEqual(CHOICES.topics);
    expect(accounts).toMatchObject({ running: 'accounts_v2' });
    expect(final).toMatchObject({ kind: 'type', running: 'left', options: CHOICES.types });
  });

  it('is told sooner by the pipeline, and by the choices where that tells nothing', () => {
    const other = pipelineWith(generationOf(5, 'current', {}, 'users_v2', 'inner'));
    const [users, , final] = choicesOf(CHOICES, { ...other, current: 5 }, {});
    expect([users!.running, final!.running]).toEqual(['users_v2', 'inner']);
    expect(choicesOf(CHOICES, undefined, {}).map(({ running }) => running)).toEqual(
      Object.values(RUNNING),
    );
  });

  it('has what runs and what was chosen, also when that is gone from the list', () => {
    const few = { ...CHOICES, topics: ['accounts'] };
    const [users] = choicesOf(few, pipelineWith(), { usersTopic: 'users_v2' });
    expect(users!.options).toEqual(['accounts', 'users', 'users_v2']);
  });
});

describe('the message', () => {
  it('names everything, so that what comes is what is shown', () => {
    const choices = choicesOf(CHOICES, pipelineWith(), { joinType: 'asof' });
    expect(messageOf(choices)).toEqual({ ...RUNNING, joinType: 'asof' });
  });

  it('names nothing that nobody knows', () => {
    const bare = { ...CHOICES, joins: [{ name: 'final', field: 'joinType', type: '' }] };
    expect(messageOf(choicesOf(bare, undefined, {}))).not.toHaveProperty('joinType');
  });
});

describe('the button', () => {
  it('says what will happen', () => {
    expect(offer({ usersTopic: 'users_v2', joinType: 'asof' })).toMatchObject({
      label: 'Switch to users_v2, as-of join',
      why: '',
    });
    expect(offer({ accountsTopic: 'accounts' }).label).toBe('Switch to accounts');
  });

  it('says which join is meant where there are several', () => {
    const choices = choicesOf(TWO_JOINS, pipelineWith(), { otherJoinType: 'asof' });
    expect(offerOf(choices, undefined).label).toBe('Switch to other: as-of join');
  });

  it('cannot be pressed where nothing differs, and says so', () => {
    expect(offer({}).why).toMatch(/this is what runs/);
    expect(offer({ usersTopic: 'users' }).why).toMatch(/this is what runs/);
  });

  it('cannot be pressed where two sources would read one topic', () => {
    expect(offer({ usersTopic: 'accounts_v2' }).why).toBe(
      'users and accounts would both read accounts_v2.',
    );
  });

  const coming = pipelineWith(generationOf(4, 'preparing', {}, 'users_v2'));

  it('cannot be pressed for what is being prepared', () => {
    expect(offer({ usersTopic: 'users_v2' }, coming).why).toBe(
      'Generation 4 is being prepared for just that.',
    );
  });

  it('says so where nothing runs yet', () => {
    const bare = {
      ...CHOICES,
      sources: CHOICES.sources.map((one) => ({ ...one, topic: '' })),
      joins: CHOICES.joins.map((one) => ({ ...one, type: '' })),
    };
    const first = { ...pipelineWith(), current: 0, generations: [generationOf(1, 'preparing')] };
    const at = (wish: Wish) => offerOf(choicesOf(bare, first, wish), comingGeneration(first));
    expect(at({})).toEqual({
      label: 'Switch',
      why: 'Choose a topic or a join type. Nothing runs yet.',
      hint: '',
    });
    expect(at({ joinType: 'asof' })).toEqual({
      label: 'Switch to as-of join',
      why: '',
      hint: 'Generation 1 (users, accounts_v2, left join), being prepared, is called off.',
    });
    expect(messageOf(choicesOf(bare, first, { joinType: 'asof' }))).toEqual({ joinType: 'asof' });
  });

  it('calls off what is being prepared', () => {
    const called =
      'Generation 4 (users_v2, accounts_v2, left join), being prepared, is called off.';
    expect(offer({ joinType: 'inner' }, coming)).toEqual({
      label: 'Switch to inner join',
      why: '',
      hint: called,
    });
    expect(offer({}, coming)).toEqual({ label: 'Keep what runs', why: '', hint: called });
    const hidden = pipelineWith(generationOf(4, 'preparing', { sources: [], joins: [] }));
    expect(offer({}, hidden).hint).toBe('Generation 4, being prepared, is called off.');
  });
});

describe('what has come true', () => {
  const sent = { ...RUNNING, joinType: 'asof' };

  it('is no wish any more, so that others are not undone', () => {
    const wish = stillWished({ joinType: 'asof' }, sent);
    expect(wish).toEqual({});
    // A colleague goes back to the left join, and somebody here chooses another topic.
    const back = choicesOf(CHOICES, pipelineWith(), { ...wish, usersTopic: 'users_v2' });
    expect(messageOf(back)).toEqual({ ...RUNNING, usersTopic: 'users_v2' });
  });

  it('leaves what was chosen since', () => {
    const chosen = { joinType: 'inner', usersTopic: 'users', accountsTopic: 'accounts' };
    expect(stillWished(chosen, sent)).toEqual({ joinType: 'inner', accountsTopic: 'accounts' });
  });
});

it('an earlier generation is chosen again by what it was made of', () => {
  const choices = choicesOf(CHOICES, pipelineWith(), {});
  const made = { usersTopic: 'users_v2', accountsTopic: 'accounts', joinType: 'inner' };
  expect(wishFor({ ...made, other: 'x' }, choices)).toEqual(made);
  expect(wishFor({ usersTopic: 'users_v2' }, choices)).toBeUndefined();
  expect(wishFor(made, [])).toBeUndefined();
});
