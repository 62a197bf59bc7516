import { mkdir, mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { printAudit, type AuditRequest } from '../../../src/cli/audit.js';
import { MAX_LINE_BYTES, readAudit } from '../../../src/shared/audit/read-audit.js';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'quire-audit-'));
});

afterEach(async () => {
  await rm(root, { recursive: true });
});

const line = (time: string, fields: Record<string, unknown> = {}) =>
  `${JSON.stringify({ time, type: 'request', action: 'document.read', ...fields })}\n`;
const write = (name: string, ...lines: string[]) => writeFile(join(root, name), lines.join(''));

/** The marks of the lines that are printed. */
async function printed(request: AuditRequest = {}): Promise<unknown[]> {
  const output = new PassThrough();
  const text = output.toArray();
  await printAudit(request, { QUIRE_AUDIT_FOLDER: root, QUIRE_DATA_DIR: root }, output);
  output.end();
  const lines = Buffer.concat((await text) as Buffer[])
    .toString()
    .split('\n')
    .filter((each) => each !== '');
  return lines.map((each) => (JSON.parse(each) as { mark?: unknown }).mark);
}

/** The number of files of the log that this process has open; 0 where the system does not say. */
async function openFiles(): Promise<number> {
  const names = await readdir('/proc/self/fd').catch(() => []);
  const paths = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')));
  return paths.filter((path) => path.startsWith(root)).length;
}

describe('npx quire audit', () => {
  test('prints the lines of all processes and days in the order of their times', async () => {
    await write(
      '2026-01-01.api.00000001.jsonl',
      line('2026-01-01T10:00:00.000Z', { mark: 1 }),
      line('2026-01-01T10:00:03.000Z', { mark: 4 }),
    );
    await write(
      '2026-01-01.worker-ingestion.00000002.jsonl',
      line('2026-01-01T10:00:01.000Z', { mark: 2 }),
      line('2026-01-01T10:00:02.000Z', { mark: 3 }),
    );
    await write('2026-01-02.api.00000001.jsonl', line('2026-01-02T00:00:00.000Z', { mark: 5 }));
    await write('notes.jsonl', line('2026-01-01T00:00:00.000Z', { mark: 'of somebody else' }));
    expect(await printed()).toEqual([1, 2, 3, 4, 5]);
  });

  test('prints nothing where nothing was ever written', async () => {
    await rm(root, { recursive: true });
    expect(await printed()).toEqual([]);
    await write('x', '').catch(() => undefined);
    root = await mkdtemp(join(tmpdir(), 'quire-audit-'));
  });

  test('leaves out what is no line, such as the last one of a process that was killed, and nothing else', async () => {
    await write(
      '2026-01-01.api.00000001.jsonl',
      line('2026-01-01T10:00:00.000Z', { mark: 1 }),
      '{"time":"2026-01-01T10:',
    );
    expect(await printed()).toEqual([1]);
  });

  test('prints lines with separators of lines in them whole, and no control character for a terminal to obey', async () => {
    const caller = 'a\u2028b\u2029c\u0085d\u009b31me';
    await write('2026-01-01.api.00000001.jsonl', line('2026-01-01T10:00:00.000Z', { mark: 1, caller }));
    const output = new PassThrough();
    const text = output.toArray();
    await printAudit({ caller }, { QUIRE_AUDIT_FOLDER: root, QUIRE_DATA_DIR: root }, output);
    output.end();
    const json = Buffer.concat((await text) as Buffer[]).toString();
    expect(json).toMatch(/^[\x20-\x7e]+\n$/);
    expect(JSON.parse(json)).toMatchObject({ mark: 1, caller });
  });

  test('leaves out a line that is longer than any that is written, and reads on behind it', async () => {
    await write(
      '2026-01-01.api.00000001.jsonl',
      line('2026-01-01T10:00:00.000Z', { mark: 1 }),
      line('2026-01-01T10:00:01.000Z', { mark: 2, caller: 'x'.repeat(MAX_LINE_BYTES) }),
      line('2026-01-01T10:00:02.000Z', { mark: 3, caller: 'ä'.repeat(100_000) }),
    );
    expect(await printed()).toEqual([1, 3]);
  });

  test('has no file open while it waits for another, so that there may be very many', async () => {
    const numbers = Array.from({ length: 150 }, (_, number) => number);
    for (const number of numbers)
      await write(
        `2026-01-01.api.${String(number).padStart(8, '0')}.jsonl`,
        line(`2026-01-01T10:00:00.${String(number).padStart(3, '0')}Z`, { mark: number }),
      );
    const options = { filter: {}, onUnreadable: () => undefined, onFailed: () => undefined };
    const read: string[] = [];
    for await (const text of readAudit(root, options)) {
      read.push(text);
      expect(await openFiles()).toBe(0);
    }
    expect(read).toHaveLength(150);
  });

  test('says which file cannot be read, after the lines of all others', async () => {
    await mkdir(join(root, '2026-01-01.api.00000001.jsonl'));
    await write('2026-01-01.api.00000002.jsonl', line('2026-01-01T10:00:00.000Z', { mark: 1 }));
    const output = new PassThrough();
    const reading = printAudit({}, { QUIRE_AUDIT_FOLDER: root, QUIRE_DATA_DIR: root }, output);
    await expect(reading).rejects.toThrow(/00000001.jsonl cannot be read \(EISDIR\)/);
    expect(String(output.read())).toContain('"mark":1');
  });

  describe('prints those alone', () => {
    beforeEach(() =>
      write(
        '2026-01-01.api.00000001.jsonl',
        line('2026-01-01T10:00:00.000Z', { mark: 1, caller: 'alice', documents: ['a'] }),
        line('2026-01-01T11:00:00.000Z', { mark: 2, caller: 'bob', documents: ['a', 'b'] }),
        line('2026-01-01T12:00:00.000Z', { mark: 3, user: 'alice', action: 'document.open_link' }),
        line('2026-01-01T13:00:00.000Z', { mark: 4, caller: 'bob', action: 'cache.query' }),
      ),
    );

    test.each<[string, AuditRequest, number[]]>([
      ['that were written from a time on', { since: '2026-01-01T11:00:00Z' }, [2, 3, 4]],
      ['that were written before a time', { until: '2026-01-01T12:00:00Z' }, [1, 2]],
      ['of a day', { since: '2026-01-01', until: '2026-01-02' }, [1, 2, 3, 4]],
      ['of another day, of which there are none', { since: '2026-01-02' }, []],
      ['that a caller sent or that are about them', { caller: 'alice' }, [1, 3]],
      ['that name a document', { document: 'b' }, [2]],
      ['of an action', { action: 'document.open_link' }, [3]],
      ['of a kind of action', { action: 'document' }, [1, 2, 3]],
      ['that fulfil all that is asked for', { caller: 'bob', document: 'a' }, [2]],
    ])('%s', async (_, request, expected) => {
      expect(await printed(request)).toEqual(expected);
    });
  });

  test.each<[AuditRequest, RegExp]>([
    [{ since: 'yesterday' }, /--since yesterday: allowed/],
    [{ until: '2026-13-01' }, /--until 2026-13-01: allowed/],
    [{ action: 'document.stolen' }, /--action document.stolen: allowed: document.list, /],
  ])('refuses %j with what is allowed', async (request, message) => {
    await expect(printed(request)).rejects.toThrow(message);
  });
});
