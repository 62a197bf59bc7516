import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createAuditLog } from '../../../src/shared/audit/audit-log.js';
import { createRetention } from '../../../src/shared/audit/day-files.js';
import { until } from '../../support/until.js';

let root: string;
let folder: string;
const told: string[] = [];
const logger = {
  error: (_: unknown, message: string) => void told.push(message),
  warn: (_: unknown, message: string) => void told.push(message),
} as never;

beforeEach(async () => {
  told.length = 0;
  root = await mkdtemp(join(tmpdir(), 'quire-audit-'));
  folder = join(root, 'audit');
});

afterEach(async () => {
  await rm(root, { recursive: true });
});

const open = (options: Partial<Parameters<typeof createAuditLog>[0]> = {}) =>
  createAuditLog({ folder, process: 'api', keepDays: 30, logger, ...options });

describe('an audit log of bounded size', () => {
  test('loses its oldest files where all are too large together, but none of today, and says so', async () => {
    const now = Date.parse('2026-03-03T12:00:00Z');
    await mkdir(folder);
    for (const day of ['2026-03-01', '2026-03-02'])
      for (const name of ['api.01234567', 'api.89abcdef'])
        await writeFile(join(folder, `${day}.${name}.jsonl`), 'x'.repeat(1_000));
    await writeFile(join(folder, '2020-01-01.notes.txt'), 'x'.repeat(10_000));
    const log = open({ maxBytes: 2_500, now: () => now });
    await log.flush();
    await until(() => Promise.resolve(told.length > 0));
    await log.close();
    expect((await readdir(folder)).sort()).toEqual([
      '2020-01-01.notes.txt',
      '2026-03-02.api.01234567.jsonl',
      '2026-03-02.api.89abcdef.jsonl',
      expect.stringMatching(/^2026-03-03/),
    ]);
    expect(told).toEqual(['the oldest files of the audit log are removed: it is too large']);
  });

  test('holds no more lines where its files of today alone are too large', async () => {
    const day = new Date().toISOString().slice(0, 10);
    await mkdir(folder);
    const large = join(folder, `${day}.api.01234567.jsonl`);
    await writeFile(large, 'x'.repeat(3_000));
    const retention = createRetention({ folder, keepDays: 30, maxBytes: 2_500, logger, now: Date.now });
    await retention.look();
    retention.close();
    expect(retention.isFull()).toBe(true);
    expect((await stat(large)).size).toBe(3_000);
    const log = open({ maxBytes: 2_500 });
    await log.flush();
    await until(async () => {
      log.write({ type: 'log', action: 'audit.lost', lost: 1 });
      await log.flush();
      return log.isFailing();
    });
    expect(told).toEqual(['the audit log cannot be written']);
    await log.close();
  });
});
