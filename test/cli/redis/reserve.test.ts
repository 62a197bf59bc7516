import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { keepReserve } from '../../../src/cli/redis/own-redis.js';
import { mountSmallDisk } from '../../support/small-disk.js';

const MEGABYTE = 2 ** 20;
const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

test('a reserve that is not whole is made whole, and is given up before the last bytes of the disk are taken', async () => {
  const disk = mountSmallDisk(64);
  if (!disk) return;
  try {
    const path = join(disk.directory, 'reserve');
    // The rest of a start that was killed.
    writeFileSync(path, 'x');
    const reserve = keepReserve(disk.directory);
    await reserve.make();
    expect(sizeOf(path)).toBe(4 * MEGABYTE);
    reserve.beforeStart();
    expect(sizeOf(path)).toBe(4 * MEGABYTE);
    // A few hundred kilobytes are less than one write of Redis may be.
    writeFileSync(join(disk.directory, 'filler'), Buffer.alloc(59.2 * MEGABYTE));
    reserve.beforeStart();
    expect(sizeOf(path)).toBe(0);
    await reserve.make();
    expect(sizeOf(path)).toBe(0);
    truncateSync(join(disk.directory, 'filler'), 0);
    await reserve.make();
    expect(sizeOf(path)).toBe(4 * MEGABYTE);
  } finally {
    disk.unmount();
  }
});

test('a folder that is gone ends nobody', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'quire-reserve-'));
  rmSync(directory, { recursive: true });
  const reserve = keepReserve(directory);
  await reserve.make();
  reserve.beforeStart();
});
