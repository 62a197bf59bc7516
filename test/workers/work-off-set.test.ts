import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { UnavailableError } from '../../src/shared/errors.js';
import { createLogger } from '../../src/shared/observability/logger.js';
import { createWorkOffSet, type WorkOffSet } from '../../src/workers/work-off-set.js';

let lines: string[];
let counted: string[];
let workOffSet: WorkOffSet;

beforeEach(() => {
  lines = [];
  counted = [];
  workOffSet = createWorkOffSet({
    logger: createLogger({
      level: 'info',
      process: 'test',
      destination: { write: (line) => lines.push(line) },
    }),
    metrics: {
      add: (name, labels) => {
        counted.push(`${name} ${Object.values(labels).join(' ')}`);
      },
      observe: () => undefined,
    },
  });
});

afterEach(() => {
  expect(lines.join('')).not.toContain('secret');
});

test('a member that fails stops no other, is counted and said, and nothing of it is told', async () => {
  const done: string[] = [];
  const failed = await workOffSet('usage', ['a', 'secret one', 'b', 'secret two', 'c'], (member) => {
    if (member.startsWith('secret')) JSON.parse(`${member} text`);
    done.push(member);
    return Promise.resolve();
  });
  expect(done).toEqual(['a', 'b', 'c']);
  expect(failed).toBe(2);
  expect(counted).toEqual(Array.from({ length: 2 }, () => 'quire_members_failed_total usage'));
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    set: 'usage',
    failed: 2,
    first: { type: 'SyntaxError' },
  });
});

test('a server that is away ends the run, one member that only looks like it does not', async () => {
  const away = new UnavailableError('storage');
  const done: number[] = [];
  const work = (isAway: (n: number) => boolean) => (n: number) => {
    if (isAway(n)) return Promise.reject(away);
    done.push(n);
    return Promise.resolve();
  };
  const members = Array.from({ length: 20 }, (_, n) => n);
  expect(
    await workOffSet(
      'hidden',
      members,
      work((n) => n % 4 === 1),
    ),
  ).toBe(5);
  expect(done).toHaveLength(15);
  done.length = 0;
  await expect(
    workOffSet(
      'hidden',
      members,
      work((n) => n > 9),
    ),
  ).rejects.toBe(away);
  expect(done).toHaveLength(10);
});
