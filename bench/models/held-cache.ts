import { setTimeout as sleep } from 'node:timers/promises';
import { createCacheStore } from '../../src/shared/caches/cache-store.js';
import { stateIdOf } from '../../src/shared/adapters/llama-cache/states.js';
import { renderMessages, type ChatMessage } from '../../src/shared/models/prompt.js';
import { createRedis } from '../../src/shared/redis/client.js';
import { readInstallation } from '../../src/shared/data-set/data-set.js';
import { z } from 'zod';
import type { BenchService } from '../load/bench-service.js';
import { authorizationOf, createBenchClient } from '../support/client.js';

const POLL_MS = 50;
const USER = 'caches';

/** A named cache that a local model has read. */
export interface HeldCache {
  readonly buildSeconds: number;
  readonly tokens: number;
  readonly stateBytes: number;
  /** The id of what the model has read, in the process with local models. */
  readonly state: string;
  /** The messages that the service sends to the model for a question. */
  messagesFor(question: string): ChatMessage[];
  /** Asks the service for one token. */
  askApi(question: string): Promise<{ readonly totalMs: number; readonly reusedTokens: number }>;
  close(): void;
}

const cacheSchema = z.object({
  status: z.string(),
  engine: z.string(),
  token_count: z.number(),
  state_bytes: z.number(),
  error: z.string().optional(),
});

interface Wanted {
  readonly name: string;
  readonly ggufFile: string;
  /** The text of its one document. */
  readonly text: string;
}

/** Makes a cache of one document and waits until the model has read it. */
export async function holdCache(service: BenchService, { name, ggufFile, text }: Wanted): Promise<HeldCache> {
  const client = createBenchClient({ ...service.target, user: USER });
  const post = async (path: string, body: object, headers = {}) => {
    const answer = await client.post(path, body, headers);
    if (answer.status > 202) throw new Error(`${path} answered ${String(answer.status)}: ${answer.body}`);
    const parsed: unknown = JSON.parse(answer.body);
    return parsed;
  };
  const ingested = await post('/ingest/text', { content: text }, { prefer: 'wait=120' });
  const { external_id: document } = z.object({ external_id: z.string() }).parse(ingested);
  const begin = performance.now();
  await post('/cache/create', { name, model: 'bench', gguf_file: ggufFile, docs: [document] });
  const cache = await untilReady(service, name);
  const buildSeconds = (performance.now() - begin) / 1_000;
  const { state, fence } = await readEngine(service, name);
  const passages = [{ documentId: document, chunkNumber: 0, text }];
  return {
    buildSeconds,
    tokens: cache.token_count,
    stateBytes: cache.state_bytes,
    state,
    messagesFor: (question) => renderMessages({ question, passages, fence }),
    askApi: async (question) => {
      const asked = performance.now();
      const answer = await post(`/cache/${name}/query`, { query: question, max_tokens: 1 });
      const totalMs = performance.now() - asked;
      return { totalMs, reusedTokens: z.object({ tokens_reused: z.number() }).parse(answer).tokens_reused };
    },
    close: () => client.close(),
  };
}

async function untilReady({ target }: BenchService, name: string) {
  for (;;) {
    const response = await fetch(`${target.url}/cache/${name}`, {
      headers: { authorization: authorizationOf(target.secret, USER) },
    });
    const cache = cacheSchema.parse(await response.json());
    if (cache.status === 'failed')
      throw new Error(`the cache could not be built: ${cache.error ?? 'no reason'}`);
    if (cache.status === 'ready') {
      if (cache.engine !== 'llama')
        throw new Error(`the cache is held by ${cache.engine}, not by a local model`);
      return cache;
    }
    await sleep(POLL_MS);
  }
}

/** Reads the facts that only the record of a cache tells: its build, and the word that fences its texts. */
async function readEngine(service: BenchService, name: string) {
  const redis = createRedis(service.redis.url, { failFast: false, onError: console.error });
  await redis.connect();
  try {
    const ready = (await createCacheStore(redis).read(USER, name))?.ready;
    if (ready?.config.engine.name !== 'llama') throw new Error('the cache is not held by a local model');
    const { fence } = ready.config.engine;
    return {
      state: stateIdOf(await readInstallation(redis), { ownerId: USER, name, build: ready.build }),
      fence,
    };
  } finally {
    redis.destroy();
  }
}
