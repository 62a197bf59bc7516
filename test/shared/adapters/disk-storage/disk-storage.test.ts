import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, rmdir, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createDiskStorage } from '../../../../src/shared/adapters/disk-storage/disk-storage.js';
import { UnavailableError } from '../../../../src/shared/errors.js';
import type { ObjectStorage } from '../../../../src/shared/ports.js';
import { describeObjectStorage } from '../../../contracts/object-storage-contract.js';

let folder: string;
let storage: ObjectStorage | undefined;
let blocking: ObjectStorage | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quire-storage-'));
  storage = await createDiskStorage({ directory: join(folder, 'contract') });
  blocking = await createDiskStorage({ directory: join(folder, 'blocking'), blockingReadBytes: 8_192 });
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describeObjectStorage('a disk', () => {
  if (!storage) throw new Error('not set up');
  return storage;
});

describeObjectStorage('a disk whose small objects are read without threads', () => {
  if (!blocking) throw new Error('not set up');
  return blocking;
});

function mountSmall(directory: string): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory]).status === 0;
}

/** A file system of our own needs root with CAP_SYS_ADMIN. */
function canMount(): boolean {
  const directory = mkdtempSync(join(tmpdir(), 'quire-mount-'));
  const mounted = mountSmall(directory);
  if (mounted) spawnSync('umount', [directory]);
  else process.stderr.write('skipped: the test of a full disk, since no file system can be mounted here\n');
  rmdirSync(directory);
  return mounted;
}

async function* pieces(count: number): AsyncGenerator<Uint8Array> {
  for (let piece = 0; piece < count; piece += 1) yield await Promise.resolve(Buffer.alloc(65_536, 1));
}

async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

describe('disk storage', () => {
  test('leaves neither files nor empty folders behind', async () => {
    const directory = join(folder, 'tidy');
    const disk = await createDiskStorage({ directory });
    await disk.put('documents/one/1', pieces(1));
    await disk.remove('documents/one/1');
    await disk.check();
    expect((await readdir(directory, { recursive: true })).sort()).toEqual(['drafts', 'objects']);
  });

  test('stores objects in folders that the removal of others deletes again and again', async () => {
    const directory = join(folder, 'contended');
    const contended = await createDiskStorage({ directory });
    const folders = [join(directory, 'objects/objects/hour'), join(directory, 'objects/objects')];
    let isOver = false;
    const removing = ['one process', 'another'].map(async () => {
      while (!isOver) for (const each of folders) await rmdir(each).catch(() => undefined);
    });
    const outcomes = new Set<string>();
    for (let object = 0; object < 500; object += 1) {
      const key = `objects/hour/${String(object)}`;
      await contended.put(key, pieces(1)).then(
        () => outcomes.add('stored'),
        (error: unknown) => outcomes.add(String(error)),
      );
      await contended.remove(key);
    }
    isOver = true;
    await Promise.all(removing);
    expect(outcomes).toEqual(new Set(['stored']));
  });

  test('removes drafts of processes that died long ago, and only those', async () => {
    const directory = join(folder, 'drafts');
    await mkdir(join(directory, 'drafts'), { recursive: true });
    const old = new Date(Date.now() - 25 * 3600 * 1000);
    await writeFile(join(directory, 'drafts', 'old'), 'half');
    await utimes(join(directory, 'drafts', 'old'), old, old);
    await writeFile(join(directory, 'drafts', 'young'), 'half');
    await createDiskStorage({ directory });
    expect(await readdir(join(directory, 'drafts'))).toEqual(['young']);
  });

  test('says unavailable, not missing, when the disk itself is away', async () => {
    const directory = join(folder, 'away');
    const disk = await createDiskStorage({ directory });
    await disk.put('document', pieces(1));
    await rm(directory, { recursive: true });
    await expect(disk.open('document')).rejects.toBeInstanceOf(UnavailableError);
    await expect(disk.remove('document')).rejects.toBeInstanceOf(UnavailableError);
    await expect(disk.put('document', pieces(1))).rejects.toBeInstanceOf(UnavailableError);
    await expect(disk.check()).rejects.toBeInstanceOf(UnavailableError);
  });

  const withSmallDisk = canMount() ? test : test.skip;
  withSmallDisk(
    'a full disk is unavailable, keeps no part of the object, and works again with room',
    async () => {
      const directory = join(folder, 'full');
      await mkdir(directory);
      expect(mountSmall(directory)).toBe(true);
      try {
        const disk = await createDiskStorage({ directory });
        await expect(disk.put('too/large', pieces(64))).rejects.toBeInstanceOf(UnavailableError);
        expect(await filesBelow(directory)).toEqual([]);
        await disk.put('small', pieces(4));
        await expect(disk.check()).resolves.toBeUndefined();
      } finally {
        spawnSync('umount', [directory]);
      }
    },
  );
});
