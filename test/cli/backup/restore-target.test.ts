import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { connect, type Client } from '../../../src/cli/backup/connect.js';
import { dumpKeys } from '../../../src/cli/backup/dump-keys.js';
import { once, putHashed } from '../../../src/cli/backup/hashed.js';
import { createKeyParts } from '../../../src/cli/backup/key-parts.js';
import { FORMAT, placesOf, writeManifest } from '../../../src/cli/backup/manifest.js';
import { restore } from '../../../src/cli/backup/restore.js';
import { UserError } from '../../../src/cli/user-messages.js';
import { openFolder } from '../../../src/shared/create-storage.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { startTestRedis, type TestRedis } from '../../support/redis.js';

const BULK = 'proto-max-bulk-len';
/** The smallest value that Redis takes for it. */
const NARROW = ['--proto-max-bulk-len', String(2 ** 20)];
const LARGE = keys.statistics('large');

let folder: string;
let servers: TestRedis[];
let source: Client;
let target: Client;
let locked: Client;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quire-restore-target-'));
  servers = await Promise.all([
    startTestRedis(),
    startTestRedis({ arguments: NARROW }),
    startTestRedis({
      arguments: NARROW.concat('--user', 'default on nopass ~* &* +@all -config|set'.split(' ')),
    }),
  ]);
  [source, target, locked] = (await Promise.all(servers.map(({ url }) => connect(url)))) as [
    Client,
    Client,
    Client,
  ];
});
afterAll(async () => {
  for (const client of [source, target, locked]) client.destroy();
  await Promise.all(servers.map((server) => server.stop()));
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  await Promise.all([source, target, locked].map((client) => client.flushAll()));
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** Writes a backup of these keys, with no sources. */
async function backUp(names: readonly string[], change = (value: Buffer): Buffer => value): Promise<string> {
  const place = await mkdtemp(join(folder, 'backup-'));
  const to = await openFolder(place);
  const places = placesOf('run');
  const parts = createKeyParts(to, places);
  for await (const some of dumpKeys(source, names))
    for (const record of some) await parts.add({ ...record, value: record.value && change(record.value) });
  const list = {
    name: places.sourceList,
    ...(await putHashed(to, places.sourceList, once(Buffer.alloc(0)))),
  };
  await writeManifest(to, {
    format: FORMAT,
    moment: '2026-01-01T00:00:00Z',
    waited: 1,
    redis: '7.0',
    documents: 1,
    keys: [...(await parts.end())],
    sources: list,
    missing: [],
  });
  return place;
}

const restoreInto = (server: number, place: string, signal?: AbortSignal) =>
  restore(place, signal ? { signal } : {}, {
    REDIS_URL: servers[server]?.url ?? '',
    QUIRE_DATA_DIR: join(folder, 'data'),
  });

describe('a value that is larger than what Redis takes (proto-max-bulk-len)', () => {
  const value = randomBytes(3 * 2 ** 20).toString('base64');

  test('is restored, and the setting is then what it was', async () => {
    await source.set(LARGE, value);
    await restoreInto(1, await backUp([LARGE]));
    expect(await target.get(LARGE)).toBe(value);
    expect(await target.configGet(BULK)).toEqual({ [BULK]: String(2 ** 20) });
  });

  test('is refused before anything is changed, where nobody may change that', async () => {
    await source.set(LARGE, value);
    await locked.set(keys.schema, 'before');
    const refused = restoreInto(2, await backUp([LARGE]));
    await expect(refused).rejects.toThrow(UserError);
    await expect(refused).rejects.toThrow(/Set proto-max-bulk-len to \d{7} there/);
    expect(await locked.get(keys.schema)).toBe('before');
    expect(await locked.exists(keys.restoring)).toBe(0);
  });
});

/** The checksum at the end of a value of Redis (CRC-64 of Jones). */
function checksum(bytes: Uint8Array): Buffer {
  let crc = 0n;
  for (const byte of bytes) {
    crc ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >> 1n) ^ ((crc & 1n) * 0x95ac9329ac4bc9b5n);
  }
  const written = Buffer.alloc(8);
  written.writeBigUInt64LE(crc);
  return written;
}

describe('values are checked by Redis (sanitize-dump-payload)', () => {
  const CHECKS = 'sanitize-dump-payload';

  test('so that one which leads out of itself is refused, and the setting is then what it was', async () => {
    await source.hSet(LARGE, 'f', 'v');
    const place = await backUp([LARGE], (value) => {
      const written = Buffer.from(value.subarray(0, -8));
      // The field says that it has five bytes, and has one.
      written[written.indexOf(Buffer.from([0x81, 0x66]))] = 0x85;
      return Buffer.concat([written, checksum(written)]);
    });
    const refused = restoreInto(1, place);
    await expect(refused).rejects.toThrow(UserError);
    await expect(refused).rejects.toThrow('none that Redis has written');
    expect(await target.exists(LARGE)).toBe(0);
    expect(await target.configGet(CHECKS)).toEqual({ [CHECKS]: 'no' });
  });

  test('and a restore that is interrupted sets back what it has changed', async () => {
    await source.set(LARGE, 'value');
    const place = await backUp([LARGE]);
    const signal = AbortSignal.abort(new UserError('interrupted'));
    await expect(restoreInto(1, place, signal)).rejects.toThrow('interrupted');
    expect(await target.exists(LARGE)).toBe(0);
    expect(await target.configGet([CHECKS, BULK])).toEqual({ [CHECKS]: 'no', [BULK]: String(2 ** 20) });
  });
});

describe('a Redis with data of its own', () => {
  test.each([
    ['documents', keys.document('mine')],
    ['documents', keys.changes],
    ['lists of who shares with whom', keys.sharing('ann')],
    ['usage', keys.usageCounters('ann')],
    ['named caches', keys.cache('ann', 'mine')],
  ])('is not emptied for a backup when it holds %s (%s)', async (what, key) => {
    await source.set(keys.epoch, 'there');
    await target.set(key, 'mine');
    await target.set(keys.installation, 'mine');
    const refused = restoreInto(1, await backUp([keys.epoch]));
    await expect(refused).rejects.toThrow(`This Redis holds ${what}`);
    expect(await target.get(key)).toBe('mine');
    expect(await target.get(keys.installation)).toBe('mine');
  });

  test('is not emptied either when a restore before was given up while it waited', async () => {
    await source.set(keys.epoch, 'there');
    await target.set(keys.restoring, 'elsewhere', { expiration: { type: 'PX', value: 60_000 } });
    await target.set(keys.sharing('ann'), 'mine');
    await expect(restoreInto(1, await backUp([keys.epoch]))).rejects.toThrow('This Redis holds lists');
    expect(await target.get(keys.sharing('ann'))).toBe('mine');
  });

  test('takes a backup when it holds only what each service makes anew', async () => {
    await source.set(LARGE, 'restored');
    await target.set(keys.installation, 'mine');
    await restoreInto(1, await backUp([LARGE]));
    expect(await target.get(LARGE)).toBe('restored');
    expect(await target.exists([keys.installation, keys.restoring])).toBe(0);
  });
});

test('keys expire when they would have, by the clock of Redis and not by that of this machine', async () => {
  const at = Date.now() + 3_600_000;
  await source.set(LARGE, 'for an hour', { expiration: { type: 'PXAT', value: at } });
  jest.spyOn(Date, 'now').mockReturnValue(1_000);
  const place = await backUp([LARGE]);
  jest.restoreAllMocks();
  await restoreInto(1, place);
  expect(await target.pExpireTime(LARGE)).toBe(at);
});
