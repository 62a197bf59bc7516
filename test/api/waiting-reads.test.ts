import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { createCache } from '../../src/api/services/caches/cache-builds.js';
import { createChangeWaiter } from '../../src/api/services/ingest/waits.js';
import { createBuiltinCompleter } from '../../src/shared/adapters/builtin/completer.js';
import { createPromptCacheEngine } from '../../src/shared/adapters/prompt-cache/cache-engine.js';
import { createCacheEngines } from '../../src/shared/caches/cache-engines.js';
import { createCacheStore } from '../../src/shared/caches/cache-store.js';
import { keys } from '../../src/shared/redis/keys.js';
import { makeToken } from '../support/api.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { until } from '../support/until.js';

/** Each poll of a wait is one a second. */
const POLLS_MILLISECONDS = 2_200;
/** Two looks at a whole record would take many times as much. */
const FEW_BYTES = 20_000;

let api: DocumentApi;
beforeAll(async () => {
  api = await startDocumentApi();
});
afterAll(() => api.close());

/** Bytes that Redis sends while nothing happens but waits. */
async function bytesWhileWaiting(): Promise<number> {
  // The follower of the change log reads the record as well, once.
  await sleep(1_000);
  const before = await sentBytes();
  await sleep(POLLS_MILLISECONDS);
  return (await sentBytes()) - before;
}

async function sentBytes(): Promise<number> {
  const info = await api.redis.info('stats');
  return Number(/total_net_output_bytes:(\d+)/.exec(info)?.[1]);
}

const ids = (name: string) =>
  Array.from({ length: 1_000 }, (_, n) => `${name}-${String(n)}-`.padEnd(256, 'x'));

test('a wait for a document reads of its record what tells the end, and all of it only then', async () => {
  const lists = { readers: ids('reader'), writers: ids('writer'), admins: ids('admin') };
  const leaving = new AbortController();
  const answer = api
    .request('/ingest/text', {
      method: 'POST',
      token: makeToken(),
      headers: { 'content-type': 'application/json', prefer: 'wait=20' },
      body: JSON.stringify({ content: 'a text', access_control: lists }),
      signal: leaving.signal,
    })
    .catch((error: unknown) => error);
  await until(async () => (await api.redis.hLen(keys.ingests)) === 1);
  expect(await bytesWhileWaiting()).toBeLessThan(FEW_BYTES);
  leaving.abort();
  expect(await answer).toMatchObject({ name: 'AbortError' });
}, 60_000);

function promptCaches() {
  const completer = createBuiltinCompleter();
  const prompt = createPromptCacheEngine({ completer, countTokens: () => 0, renderPrefix: () => '' });
  return createCacheEngines({ wanted: 'prompt', prompt, local: null });
}

test('so does a wait for a cache', async () => {
  const waiter = await createChangeWaiter(api.redis, () => undefined);
  const parts = {
    caches: createCacheStore(api.redis),
    engines: promptCaches(),
    selection: {
      select: () =>
        Promise.resolve(Array.from({ length: 20_000 }, (_, n) => `document-${String(n)}`.padEnd(36))),
      matching: () => Promise.resolve([]),
    },
    sharedViews: api.sharedViews,
    jobs: api.jobs,
    waiter,
    waitSeconds: 20,
    logger: pino({ level: 'silent' }),
  };
  const leaving = new AbortController();
  const context = {
    ownerId: 'alice',
    principal: { id: 'alice' },
    name: 'all',
    requestId: 'test',
    startedAtMs: Date.now(),
    waitSeconds: 20,
    signal: leaving.signal,
  };
  const filters = { filter: null, json: {} };
  const wanted = {
    model: 'm',
    ggufFile: 'g',
    docs: undefined,
    collection: undefined,
    shared: undefined,
    filters,
  };
  const built = createCache(parts, context, wanted);
  await until(async () => (await api.redis.zCard(keys.cachesBuilding)) === 1);
  expect(await bytesWhileWaiting()).toBeLessThan(FEW_BYTES);
  leaving.abort();
  expect(await built).toMatchObject({ ready: false, cache: { name: 'all' } });
  waiter.close();
}, 60_000);
