import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createDiskStorage } from '../../../src/shared/adapters/disk-storage/disk-storage.js';
import { UnavailableError } from '../../../src/shared/errors.js';
import { createLogger } from '../../../src/shared/observability/logger.js';
import { MissingObjectError, type ObjectStorage } from '../../../src/shared/ports.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { createDraftObjects } from '../../../src/shared/storage/sources.js';
import { announceStorage, createStorageMarker } from '../../../src/shared/storage/marker.js';
import { waitForStorage, distinguishMissing } from '../../../src/workers/wait-for-storage.js';
import { until } from '../../support/until.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis } = useTestRedis();
let folder: string;
const running: (() => void)[] = [];
const logger = createLogger({ level: 'silent', process: 'test' });
const { signal } = new AbortController();
const advice = 'use a shared volume or s3';

beforeEach(async () => {
  await redis.flushAll();
  folder = await mkdtemp(join(tmpdir(), 'quire-marker-'));
});

afterEach(async () => {
  for (const close of running.splice(0)) close();
  await rm(folder, { recursive: true, force: true });
});

/** A process whose data folder is `name`. */
async function processWith(name: string) {
  const storage = await createDiskStorage({ directory: join(folder, name) });
  const marker = createStorageMarker({ redis, storage, drafts: createDraftObjects(redis) });
  return { storage, marker };
}

async function api(name: string) {
  const announced = await announceStorage({ ...(await processWith(name)), advice, logger, signal });
  running.push(announced.close);
  return announced;
}

async function worker(name: string) {
  running.push(await waitForStorage({ ...(await processWith(name)), advice, logger }, () => undefined));
}

/** Forgets the announcement, as happens by itself when every API has been gone for a while. */
const forgetAnnouncement = () => redis.del(keys.storageMarkerAnnounced);

const passes = async (name: string) => (await (await processWith(name)).marker.look()) === 'here';

async function isPending(promise: Promise<unknown>): Promise<boolean> {
  return Promise.race([promise.then(() => false), sleep(700).then(() => true)]);
}

test('workers that come before the API wait for it', async () => {
  const workers = Promise.all([worker('one'), worker('one')]);
  expect(await isPending(workers)).toBe(true);
  await api('one');
  await workers;
});

test('an API and workers that come after it see one storage, in whatever number they come at once', async () => {
  const apis = Array.from({ length: 5 }, () => api('one'));
  const workers = Array.from({ length: 5 }, () => worker('one'));
  const announced = await Promise.all(apis);
  await Promise.all(workers);
  for (const { storage } of announced) await expect(storage.check()).resolves.toBeUndefined();
  // The APIs that came second have taken their markers back.
  expect(await readdir(join(folder, 'one', 'objects', 'markers'))).toHaveLength(1);
});

test('of two APIs that come at once with a storage each, one is not let in', async () => {
  const both = [api('one'), api('two')];
  expect(await isPending(Promise.all(both))).toBe(true);
  expect(await Promise.race(both)).toBeDefined();
  const seen = await Promise.all([passes('one'), passes('two')]);
  expect(seen.filter(Boolean)).toHaveLength(1);
  await forgetAnnouncement();
  await Promise.all(both);
});

test('another storage is neither announced nor worked on while an API lives', async () => {
  await api('one');
  const [other, lost] = [api('two'), worker('two')];
  expect(await isPending(Promise.race([other, lost]))).toBe(true);
  await worker('one');
  // Once nobody announces the first any more, the API that waits may have moved there: the worker follows it.
  await forgetAnnouncement();
  await Promise.all([other, lost]);
  expect(await passes('one')).toBe(false);
});

test('a marker of before, where no API lives, is enough for a worker', async () => {
  (await api('one')).close();
  await forgetAnnouncement();
  await worker('one');
});

test('storage that was emptied while nothing ran is marked anew, and workers wait for that', async () => {
  (await api('one')).close();
  await forgetAnnouncement();
  await rm(join(folder, 'one'), { recursive: true });
  const waiting = worker('one');
  expect(await isPending(waiting)).toBe(true);
  await api('one');
  await waiting;
});

test('storage that is emptied, and a Redis that is, while the API runs, are marked anew', async () => {
  await api('one');
  await rm(join(folder, 'one', 'objects', 'markers'), { recursive: true });
  expect(await passes('one')).toBe(false);
  await until(() => passes('one'));
  await redis.flushAll();
  expect(await passes('one')).toBe(false);
  await until(() => passes('one'));
});

test('a marker is swept only when it was not announced for long', async () => {
  await api('one');
  expect(await redis.zRange(keys.draftObjects, 0, -1)).toEqual([await redis.get(keys.storageMarker)]);
  expect(await redis.zRangeByScore(keys.draftObjects, 0, Date.now() - 10_000)).toEqual([]);
});

test('a storage that is away when an API starts does not keep it from starting', async () => {
  const { storage, marker } = await processWith('one');
  let isAway = true;
  const away: ObjectStorage = {
    ...storage,
    put: (key, source) =>
      isAway ? Promise.reject(new UnavailableError('object storage')) : storage.put(key, source),
  };
  const drafts = createDraftObjects(redis);
  const shaky = createStorageMarker({ redis, storage: away, drafts });
  const announced = await announceStorage({ marker: shaky, storage: away, advice, logger, signal });
  running.push(announced.close);
  expect(await marker.look()).toBe('nowhere');
  isAway = false;
  await until(async () => (await marker.look()) === 'here');
});

test("an object that is missing is missing only where the API's marker is there", async () => {
  await api('one');
  const open = async (name: string) => {
    const { storage, marker } = await processWith(name);
    return distinguishMissing(storage, marker).open('no/object');
  };
  await expect(open('one')).rejects.toBeInstanceOf(MissingObjectError);
  await expect(open('two')).rejects.toBeInstanceOf(UnavailableError);
});
