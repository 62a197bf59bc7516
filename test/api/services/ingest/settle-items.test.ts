import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { settleItems } from '../../../../src/api/services/ingest/batch/batch-wait.js';
import { TooManyError, UnavailableError } from '../../../../src/shared/errors.js';

test("what is not the caller's fault is logged, since the answer does not say what it was", async () => {
  const lines: string[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const errors = [
    new TooManyError('too many', { retryAfterSeconds: 1 }),
    new UnavailableError('storage'),
    new UnavailableError('storage'),
    new Error('a fault of ours'),
  ];
  const nothingToWaitFor = {
    add: () => undefined,
    addKnown: () => undefined,
    stateOf: () => Promise.resolve(null),
    close: () => undefined,
  };
  const inTurn = () => Promise.reject(new Error('not asked for'));
  const records = { read: inTurn, inTurn };
  const items = errors.map((error, index) => ({ index, error }));
  expect(await settleItems({ records, logger }, nothingToWaitFor, { callerId: 'alice', items })).toEqual(
    items.map((item) => ({ ...item, type: 'refused' })),
  );
  // An error that many items may meet at once is one line.
  expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
    expect.objectContaining({ level: 40, items: 2, msg: 'items of a batch refused for now' }),
    expect.objectContaining({ level: 50, msg: 'an item of a batch failed' }),
  ]);
  expect(lines[0]).toContain('storage is unavailable');
  expect(lines[1]).toContain('a fault of ours');
});
