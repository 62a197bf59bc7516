import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { auditRoom, createAuditLog, openAudit } from '../../../src/shared/audit/audit-log.js';
import type { RequestEntry } from '../../../src/shared/audit/entry.js';
import { fileSettingsSchema } from '../../../src/shared/settings/schema.js';
import { mountSmallDisk, fillDisk } from '../../support/small-disk.js';
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

const search = (request: string): RequestEntry => ({
  type: 'request',
  action: 'document.search',
  request,
  caller: 'alice',
  client: '127.0.0.1',
  status: 200,
  complete: true,
  ms: 1,
});
const open = (options: Partial<Parameters<typeof createAuditLog>[0]> = {}) =>
  createAuditLog({ folder, process: 'api', keepDays: 30, logger, ...options });

interface Line {
  readonly time: string;
  readonly process: string;
  readonly type: string;
  readonly action: string;
  readonly request?: string;
  readonly lost?: number;
}
async function linesOf(name: string): Promise<Line[]> {
  const text = await readFile(join(folder, name), 'utf8');
  expect(text.endsWith('\n')).toBe(true);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}
async function allLines(): Promise<Line[]> {
  const files = await Promise.all((await readdir(folder)).sort().map(linesOf));
  return files.flat();
}

describe('the audit log', () => {
  test('is a line of JSON for each entry, in their order, between its start and its stop', async () => {
    const log = open();
    for (const id of ['a', 'b', 'c']) log.write(search(id));
    await log.close();
    const lines = await allLines();
    expect(lines.map(({ action }) => action)).toEqual([
      'audit.start',
      ...Array<string>(3).fill('document.search'),
      'audit.stop',
    ]);
    expect(lines.map(({ request }) => request)).toEqual([undefined, 'a', 'b', 'c', undefined]);
  });

  test('is there within a tenth of a second, without anybody asking for it', async () => {
    const log = open();
    await log.flush();
    log.write(search('a'));
    const start = performance.now();
    await until(async () => (await allLines()).length === 2);
    expect(performance.now() - start).toBeLessThan(1_000);
    await log.close();
  });

  test('can be read by who runs the service alone', async () => {
    const log = open();
    await log.close();
    const [name = ''] = await readdir(folder);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  });

  test('is appended to alone: what somebody cuts off does not come back, and nothing is written over', async () => {
    const log = open();
    log.write(search('a'));
    await log.flush();
    const [name = ''] = await readdir(folder);
    await truncate(join(folder, name), 0);
    log.write(search('b'));
    await log.close();
    expect((await linesOf(name)).map(({ request }) => request)).toEqual(['b', undefined]);
  });

  test('of two processes of one name that write at once has all lines of both, each whole', async () => {
    const logs = [open(), open()];
    for (let i = 0; i < 2_000; i += 1) logs[i % 2]?.write(search(String(i)));
    await Promise.all(logs.map((log) => log.close()));
    expect(await readdir(folder)).toHaveLength(2);
    const found = (await allLines()).flatMap(({ request }) => request ?? []);
    expect(new Set(found).size).toBe(2_000);
  });

  test('begins another file at midnight, in UTC, and each line is in that of its day', async () => {
    let now = Date.parse('2026-01-31T23:59:59.990Z');
    const log = open({ now: () => now });
    log.write(search('before'));
    now += 20;
    log.write(search('after'));
    await log.close();
    const [first = '', second = ''] = (await readdir(folder)).sort();
    expect([first.slice(0, 10), second.slice(0, 10)]).toEqual(['2026-01-31', '2026-02-01']);
    expect((await linesOf(first)).map(({ request }) => request)).toEqual([undefined, 'before']);
    expect((await linesOf(second)).map(({ request }) => request)).toEqual(['after', undefined]);
  });

  test('loses the files of days that are over for longer than it is kept, and no other file', async () => {
    let now = Date.parse('2026-03-01T12:00:00Z');
    const log = open({ keepDays: 30, now: () => now });
    await log.flush();
    const old = '2026-02-28.api.01234567.jsonl';
    await writeFile(join(folder, old), '');
    await writeFile(join(folder, '2020-01-01.notes.txt'), '');
    now = Date.parse('2026-03-30T00:00:00Z');
    log.write(search('a'));
    await log.flush();
    expect(await readdir(folder)).toContain(old);
    now = Date.parse('2026-03-31T00:00:00Z');
    log.write(search('b'));
    await log.flush();
    await until(async () => !(await readdir(folder)).includes(old));
    expect(await readdir(folder)).toContain('2020-01-01.notes.txt');
    await log.close();
  });

  test.each(['close', 'end'] as const)(
    'tells of refused requests that were counted at its %s',
    async (how) => {
      const log = open();
      await log.flush();
      for (let i = 0; i < 100; i += 1) log.write({ ...search(String(i)), status: 404 });
      await log[how]();
      const lines = await allLines();
      expect(lines.filter(({ type }) => type === 'request')).toHaveLength(60);
      expect(lines.find(({ type }) => type === 'refusals')).toMatchObject({ caller: 'alice', count: 40 });
    },
  );

  test('is written by a process that ends without closing it', async () => {
    const log = open();
    log.write(search('a'));
    log.end();
    await until(async () => (await allLines()).length === 2);
  });
});

describe('an audit log that cannot be written', () => {
  test('is tried again, loses and repeats no line, and says both times that it is so', async () => {
    let hasRoom = true;
    const log = open({ hasRoom: () => Promise.resolve(hasRoom) });
    await log.flush();
    hasRoom = false;
    log.write(search('a'));
    await log.flush();
    log.write(search('b'));
    await log.flush();
    expect(log.isFailing()).toBe(true);
    hasRoom = true;
    await until(() => Promise.resolve(!log.isFailing()));
    await log.close();
    expect((await allLines()).map(({ request }) => request)).toEqual([undefined, 'a', 'b', undefined]);
    expect(told).toEqual(['the audit log cannot be written', 'the audit log is written again']);
  });

  test('keeps a bounded part of what comes, and says afterwards how many lines are missing', async () => {
    let hasRoom = true;
    const log = open({ hasRoom: () => Promise.resolve(hasRoom) });
    await log.flush();
    hasRoom = false;
    const documents = Array<string>(1_000).fill('01234567-89ab-4cde-8f01-23456789abcd');
    for (let i = 0; i < 500; i += 1) log.write({ ...search(String(i)), documents });
    await log.flush();
    const { lost } = log.figures();
    expect(lost).toBeGreaterThan(0);
    hasRoom = true;
    await until(() => Promise.resolve(!log.isFailing()));
    await log.close();
    const lines = await allLines();
    expect(lines.find(({ action }) => action === 'audit.lost')).toMatchObject({ lost });
    expect(lines.filter(({ action }) => action === 'document.search')).toHaveLength(500 - lost);
  });

  test('is one whose disk does not answer, which nothing waits for when the process ends', async () => {
    let answer = (_: boolean): void => undefined;
    const hasRoom = () => new Promise<boolean>((resolve) => (answer = resolve));
    const log = open({ hasRoom, hungMilliseconds: 20 });
    expect(log.isFailing()).toBe(false);
    await until(() => Promise.resolve(log.isFailing()));
    log.end();
    await expect(readdir(folder)).rejects.toThrow('ENOENT');
    answer(true);
    await until(() => Promise.resolve(!log.isFailing()));
    expect((await allLines()).map(({ action }) => action)).toEqual(['audit.start']);
  });

  test('is one for which so much waits that lines would soon be lost, before one is', async () => {
    let answer = (_: boolean): void => undefined;
    const log = open({ hasRoom: () => new Promise<boolean>((resolve) => (answer = resolve)) });
    const documents = Array<string>(1_000).fill('01234567-89ab-4cde-8f01-23456789abcd');
    for (let i = 0; i < 350; i += 1) log.write({ ...search(String(i)), documents });
    expect(log.figures().lost).toBe(0);
    expect(log.isFailing()).toBe(true);
    await until(() => {
      answer(true);
      return Promise.resolve(!log.isFailing());
    });
  });

  test('leaves the last quarter of what stays free on a disk to Redis', async () => {
    const disk = mountSmallDisk(8);
    if (!disk) return;
    try {
      const values = { audit: { folder: disk.directory }, disk: { minFreeMegabytes: 16 } };
      const settings = { ...fileSettingsSchema.parse(values), dataDirectory: root };
      const free = async (megabytes: number) => {
        await writeFile(join(disk.directory, 'filler'), Buffer.alloc((8 - megabytes) * 2 ** 20));
        return auditRoom(settings).hasRoom();
      };
      expect(await free(5)).toBe(true);
      expect(await free(3)).toBe(false);
    } finally {
      disk.unmount();
    }
  });

  test('on a disk without a byte left goes on where it stopped: no line is torn', async () => {
    const disk = mountSmallDisk(1);
    if (!disk) return;
    try {
      folder = join(disk.directory, 'audit');
      const log = open();
      await log.flush();
      const filler = join(disk.directory, 'filler');
      fillDisk(filler);
      for (let i = 0; i < 200; i += 1) log.write(search(String(i)));
      await log.flush();
      expect(log.isFailing()).toBe(true);
      await rm(filler);
      await until(() => Promise.resolve(!log.isFailing()));
      await log.close();
      const found = (await allLines()).flatMap(({ request }) => request ?? []);
      expect(found).toEqual(Array.from({ length: 200 }, (_, i) => String(i)));
    } finally {
      disk.unmount();
    }
  });
});

describe('without the setting `audit.log`', () => {
  test('there is no log, and no folder of it', async () => {
    const settings = { ...fileSettingsSchema.parse({}), dataDirectory: root };
    const onExit = () => undefined;
    expect(openAudit(settings, { logger, process: 'api', onExit })).toBeNull();
    expect(await readdir(root)).toEqual([]);
  });
});
