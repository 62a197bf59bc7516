import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openDisks } from '../../../src/shared/disk/disk-watch.js';
import { loadSettings } from '../../../src/shared/settings/load.js';
import pino from 'pino';
import { mountSmallDisk } from '../../support/small-disk.js';

const MEGABYTE = 2 ** 20;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'quire-disks-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

function write(path: string, megabytes: number): void {
  writeFileSync(path, '');
  truncateSync(path, megabytes * MEGABYTE);
}

function open(options: { redisDirectory?: string; minFreeMegabytes: number }) {
  const settings = loadSettings({
    QUIRE_DATA_DIR: directory,
    QUIRE_REDIS_DIRECTORY: options.redisDirectory ?? '',
    QUIRE_DISK_MIN_FREE_MEGABYTES: String(options.minFreeMegabytes),
    QUIRE_DEV_MODE: 'true',
  });
  return openDisks(settings, pino({ level: 'silent' }));
}

/** The result of a look is kept for a moment. */
const nextLook = () => sleep(60);

test('as much stays free as the append-only files take, whichever version of Redis keeps them', async () => {
  const disks = open({ redisDirectory: directory, minFreeMegabytes: 1 });
  expect(await disks.redis?.state()).toMatchObject({ least: MEGABYTE });
  write(join(directory, 'appendonly.aof'), 3);
  await nextLook();
  expect(await disks.redis?.state()).toMatchObject({ least: 4 * MEGABYTE });
  mkdirSync(join(directory, 'appendonlydir'));
  write(join(directory, 'appendonlydir', 'appendonly.aof.1.incr.aof'), 5);
  await nextLook();
  expect(await disks.redis?.state()).toMatchObject({ least: 9 * MEGABYTE });
});

test('a folder of the data folder that is a disk of its own is not filled', async () => {
  const small = mountSmallDisk(4);
  if (!small) return;
  try {
    const { data } = open({ minFreeMegabytes: 5 });
    expect(await data.isShort()).toBe(false);
    symlinkSync(small.directory, join(directory, 'objects'));
    await nextLook();
    expect(await data.isShort()).toBe(true);
    expect((await data.state()).free).toBeLessThanOrEqual(4 * MEGABYTE);
  } finally {
    small.unmount();
  }
});

test('what is written at once is taken only where as much stays free after it', async () => {
  const small = mountSmallDisk(4);
  if (!small) return;
  try {
    symlinkSync(small.directory, join(directory, 'states'));
    const { data } = open({ minFreeMegabytes: 1 });
    await data.requireRoom();
    await data.requireRoom(2.5 * MEGABYTE);
    await expect(data.requireRoom(3.5 * MEGABYTE)).rejects.toThrow('room on the disk (data)');
    expect(await data.isShort()).toBe(false);
  } finally {
    small.unmount();
  }
});
