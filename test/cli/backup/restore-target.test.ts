import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { connect, type Client } from '../../../src/cli/backup/connect.js';
import { dumpKeys } from '../../../src/cli/backup/dump-keys.js';
import { once, putHashed } from '../../../src/cli/backup/hashed.js';
import { createKeyParts } from '../../../src/cli/backup/key-parts.js';
import { FORMAT, placesOf } from '../../../src/cli/backup/manifest.js';
import { writeManifest } from '../../../src/cli/backup/open-place.js';
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
async function backUp(names: readonly string[]): Promise<string> {
  const place = await mkdtemp(join(folder, 'backup-'));
  const to = await openFolder(place);
  const places = placesOf('run');
  const parts = createKeyParts(to, places);
  for await (const some of dumpKeys(source, names)) for (const record of some) await parts.add(record);
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

const restoreInto = (server: number, place: string) =>
  restore(place, {}, { REDIS_URL: servers[server]?.url ?? '', QUIRE_DATA_DIR: join(folder, 'data') });

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
