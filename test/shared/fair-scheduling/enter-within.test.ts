import { expect, test } from '@jest/globals';
import {
  enterWithin,
  createTurns,
  type TurnRequest,
  type Turns,
} from '../../../src/shared/fair-scheduling/turns.js';
import { useFakeClock } from '../../support/fake-clock.js';
import { rejection } from '../../support/rejection.js';

const { pass } = useFakeClock();

test('who gets no turn in time gets none, and waits no more', async () => {
  const turns = createTurns(1);
  const holder = await turns.enter({ by: 'holder' });
  let answer: unknown = 'waits';
  const asked = enterWithin(turns, 8_000, { by: 'ann' }).then((turn) => (answer = turn));
  await pass(7_999);
  expect(answer).toBe('waits');
  expect(turns.figures()).toEqual({ running: 1, waiting: 1 });
  await pass(1);
  expect(answer).toBeNull();
  expect(turns.figures()).toEqual({ running: 1, waiting: 0 });
  await asked;
  holder.end();
});

test('who gets a turn in time keeps it, however long it lasts', async () => {
  const turns = createTurns(1);
  const holder = await turns.enter({ by: 'holder' });
  const asked = enterWithin(turns, 8_000, { by: 'ann' });
  await pass(7_999);
  holder.end();
  const turn = await asked;
  expect(turn).not.toBeNull();
  await pass(60_000);
  expect(turns.figures()).toEqual({ running: 1, waiting: 0 });
  turn?.end();
});

test('the request is passed on as it is, and its wait is watched no more once the turn has come', async () => {
  const requests: TurnRequest[] = [];
  const turns: Pick<Turns, 'enter'> = {
    enter: (request = {}) => {
      requests.push(request);
      return Promise.resolve({ isWanted: () => false, end: () => undefined });
    },
  };
  const leaving = new AbortController();
  const request = { by: 'ann', kind: 'urgent', hasBegun: true, onBegin: () => undefined };
  await enterWithin(turns, 8_000, { ...request, signal: leaving.signal });
  expect(requests).toEqual([{ ...request, signal: expect.any(AbortSignal) as unknown }]);
  leaving.abort(new Error('left'));
  await pass(8_000);
  expect(requests[0]?.signal?.aborted).toBe(false);
});

test('who leaves before is told why it left, and who is refused why it was', async () => {
  const turns = createTurns(1, { maxWaiting: 1, refusal: () => new Error('full') });
  await turns.enter({ by: 'holder' });
  const leaving = new AbortController();
  const left = rejection(enterWithin(turns, 8_000, { by: 'ann', signal: leaving.signal }));
  expect(await rejection(enterWithin(turns, 8_000, { by: 'bob' }))).toEqual(new Error('full'));
  leaving.abort(new Error('left'));
  expect(await left).toEqual(new Error('left'));
});
