import { expect, test } from '@jest/globals';
import { createTurns } from '../../src/models/engine/turns.js';

const { signal } = new AbortController();

test('urgent tasks go before those of the background, but not for ever', async () => {
  const turns = createTurns({ atOnce: 1, maxWaiting: 100 });
  const order: string[] = [];
  const run = (name: string, isUrgent: boolean) =>
    turns.take({ isUrgent, signal }, () => {
      order.push(name);
      return Promise.resolve();
    });
  const first = turns.take({ isUrgent: true, signal }, () => new Promise((done) => setTimeout(done, 20)));
  const documents = ['d1', 'd2'].map((name) => run(name, false));
  const queries = Array.from({ length: 20 }, (_, n) => run(`q${String(n)}`, true));
  await Promise.all([first, ...documents, ...queries]);
  expect(order.indexOf('d1')).toBe(8);
  expect(order.indexOf('d2')).toBe(17);
});

test('where the background has fewer places, one stays for what is urgent', async () => {
  const turns = createTurns({ atOnce: 2, background: 1, maxWaiting: 100 });
  const ends: (() => void)[] = [];
  const begun: string[] = [];
  const run = (name: string, isUrgent: boolean) =>
    turns.take({ isUrgent, signal }, () => {
      begun.push(name);
      return new Promise<void>((end) => ends.push(end));
    });
  const all = [run('build 1', false), run('build 2', false), run('question', true)];
  await new Promise(setImmediate);
  expect(begun).toEqual(['build 1', 'question']);
  for (let n = 0; n < all.length; n += 1) {
    ends[n]?.();
    await new Promise(setImmediate);
  }
  await Promise.all(all);
  expect(begun).toEqual(['build 1', 'question', 'build 2']);
});

test('one who leaves gives up the place in the queue, which holds no more than its length', async () => {
  const turns = createTurns({ atOnce: 1, maxWaiting: 1 });
  const begun: string[] = [];
  const run = (name: string, leaving: AbortSignal) =>
    turns.take({ isUrgent: true, signal: leaving }, () => {
      begun.push(name);
      return new Promise((done) => setTimeout(done, 20));
    });
  const leaver = new AbortController();
  const first = run('first', signal);
  const left = expect(run('leaver', leaver.signal)).rejects.toThrow('the client has left');
  await expect(run('too many', signal)).rejects.toMatchObject({ code: 'overloaded' });
  leaver.abort(new Error('the client has left'));
  await left;
  expect(turns.waiting).toBe(0);
  await Promise.all([first, run('next', signal)]);
  expect(begun).toEqual(['first', 'next']);
});
