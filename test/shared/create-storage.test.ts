import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createObjectStorage } from '../../src/shared/create-storage.js';
import { UnavailableError } from '../../src/shared/errors.js';
import { createLogger } from '../../src/shared/observability/logger.js';
import { settingsOf } from '../support/settings-of.js';

const MEBIBYTE = 2 ** 20;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quire-storage-room-'));
});
afterEach(() => rm(directory, { recursive: true }));

/** Stores a file of eight pieces on a disk that has room for so many of them. Answers how many were read. */
async function store({ roomFor }: { roomFor: number }) {
  let read = 0;
  const requireRoom = () =>
    read >= roomFor ? Promise.reject(new UnavailableError('room on the disk')) : Promise.resolve();
  const storage = await createObjectStorage(
    settingsOf({ QUIRE_DATA_DIR: directory, QUIRE_DEV_MODE: 'true' }),
    createLogger({ level: 'silent', process: 'test' }),
    { disk: { requireRoom } },
  );
  async function* file(): AsyncGenerator<Uint8Array> {
    for (; read < 8; read += 1) yield await Promise.resolve(Buffer.alloc(MEBIBYTE));
  }
  const stored = await storage.put('2026-11/file', file()).then(
    () => null,
    (error: unknown) => error,
  );
  return { stored, read };
}

/** Names of the stored files, those half written included. */
async function storedFiles(): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

const REFUSED = { message: expect.stringContaining('room on the disk') as unknown };

test('a file is stored where its disk has room until it has arrived', async () => {
  expect(await store({ roomFor: 9 })).toEqual({ stored: null, read: 8 });
  expect(await storedFiles()).toEqual(['file']);
});

test('nothing of a file is read where its disk has no room', async () => {
  expect(await store({ roomFor: 0 })).toMatchObject({ stored: REFUSED, read: 0 });
  expect(await storedFiles()).toEqual([]);
});

test('a file whose disk becomes short while it arrives is refused then, and nothing of it stays', async () => {
  const { stored, read } = await store({ roomFor: 3 });
  expect(stored).toMatchObject(REFUSED);
  expect(read).toBeLessThanOrEqual(4);
  expect(await storedFiles()).toEqual([]);
});
