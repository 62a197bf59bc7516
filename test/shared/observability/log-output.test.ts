import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createLogger, withoutRedaction, createLogOutput } from '../../../src/shared/observability/logger.js';
import { until } from '../../support/until.js';

function setUp() {
  const writes: string[] = [];
  let end: () => void = () => undefined;
  const destination = createLogOutput({
    sink: { write: (lines) => writes.push(lines) },
    onExit: (flush) => (end = flush),
  });
  const logger = createLogger({ level: 'debug', process: 'test', destination });
  const messages = () =>
    writes.map((lines) =>
      lines
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { msg: string }).msg),
    );
  return { logger, messages, end: () => end() };
}

test('a single line is written at once, and lines that come fast are gathered for some milliseconds', async () => {
  const { logger, messages } = setUp();
  logger.info('one');
  expect(messages()).toEqual([['one']]);
  logger.info('two');
  logger.debug('three');
  expect(messages()).toEqual([['one']]);
  await until(() => messages().length === 2);
  expect(messages()).toEqual([['one'], ['two', 'three']]);
  await sleep(60);
  logger.info('four');
  expect(messages()).toHaveLength(3);
});

test('a warning does not wait, and comes after what was logged before it', () => {
  const { logger, messages } = setUp();
  for (const line of ['one', 'two']) logger.info(line);
  logger.warn('three');
  logger.child({ requestId: 'x' }).error('four');
  expect(messages()).toEqual([['one'], ['two', 'three'], ['four']]);
});

test('many lines do not wait, and none is lost when the process ends', () => {
  const { logger, messages, end } = setUp();
  const lines = Array.from({ length: 300 }, (_, i) => `${String(i)} ${'x'.repeat(100)}`);
  for (const line of lines) logger.info(line);
  const before = messages();
  expect(before.length).toBeGreaterThan(1);
  expect(before.flat().length).toBeLessThan(300);
  end();
  expect(messages().flat()).toEqual(lines);
});

test('only a logger that is said to need it shows what others hide', () => {
  const lines: unknown[] = [];
  const destination = { write: (line: string) => lines.push(JSON.parse(line)) };
  const logger = createLogger({ level: 'info', process: 'test', destination });
  const fields = { path: '/x', token: 'abc', inner: { password: 'abc' } };
  withoutRedaction(logger).info({ path: '/x', status: 200 }, 'request completed');
  logger.info(fields, 'hidden');
  const common = { level: 'info', process: 'test' };
  expect(lines).toMatchObject([
    { ...common, path: '/x', status: 200, msg: 'request completed' },
    { ...common, path: '/x', token: '(not shown)', inner: { password: '(not shown)' } },
  ]);
});
