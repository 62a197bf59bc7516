import { fork } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';
import { FIRST_VECTORS } from '../../src/shared/data-set/stored-vectors.js';
import { createRedis } from '../../src/shared/redis/client.js';
import { startBenchService, SECRET } from '../load/bench-service.js';
import { ingestBatches } from '../load/ingest-batches.js';
import { createSearchLoad, type SearchFigures } from '../load/search-load.js';
import { round } from '../support/client.js';
import type { Collection } from '../support/collections.js';
import { createSeed } from '../support/seed.js';
import { createTexts } from '../support/texts.js';
import type { RunningEngine } from './start-engine.js';

const CLIENTS = [1, 8];
const ROUNDS = 5;
const ROUND_SECONDS = 1.5;
const INGESTED = 10_000;
const USER = 'load';

/** The server that is asked. */
interface Place {
  readonly name: string;
  readonly url: string;
}

/**
 * The API beside the engines, each behind a bare server of the same framework, with the same chunks: searches in rounds that
 * alternate, then 10,000 texts in batches.
 */
export async function measureOverHttp(engines: readonly RunningEngine[], size: number, scifact: Collection) {
  const service = await startBenchService();
  const bare = await startBareServer();
  try {
    const makeText = createTexts([scifact]);
    const redis = createRedis(service.redis.url, { failFast: true, onError: console.error });
    await redis.connect();
    await service.setSync('no');
    await createSeed(redis, { makeText, vectors: FIRST_VECTORS })(USER, size);
    redis.destroy();
    await service.setSync('always');
    const api = { name: 'the API', url: service.url };
    const served: Place[] = [];
    for (const { name, listen } of engines) served.push({ name, url: await listen() });
    const queries = scifact.queries.map(({ text }) => text);
    const nothing = { name: 'bare server', url: bare.url };
    const searches = await searchInTurns([api, ...served, nothing], queries);
    const texts = Array.from({ length: INGESTED }, (_, at) => ({ id: String(at), text: makeText() }));
    const ingest = await ingestEach([api, ...served], texts);
    return { searches, ingest };
  } finally {
    bare.stop();
    await service.stop();
  }
}

async function startBareServer() {
  const program = new URL('../support/bare-server.ts', import.meta.url);
  const child = fork(program, { execArgv: process.execArgv });
  const { port } = z.object({ port: z.number() }).parse((await once(child, 'message')).at(0));
  return { url: `http://127.0.0.1:${String(port)}`, stop: () => child.disconnect() };
}

async function searchInTurns(places: readonly Place[], queries: readonly string[]) {
  const rows: (SearchFigures & { readonly server: string; p50Ratio: number; rateRatio: number })[] = [];
  for (const clients of CLIENTS) {
    const loads = places.map(({ name, url }) => {
      return { name, load: createSearchLoad({ url, secret: SECRET, users: [USER], queries, clients }) };
    });
    for (const { load } of loads) await load.warmUp();
    for (let at = 0; at < ROUNDS; at += 1) for (const { load } of loads) await load.run(ROUND_SECONDS);
    const figures = loads.map(({ name, load }) => ({ server: name, ...load.figures() }));
    for (const { load } of loads) load.close();
    const [own] = figures;
    const ratio = (of: number, to: number | undefined) => round(of / (to ?? Number.NaN));
    for (const each of figures) {
      const p50Ratio = ratio(each.p50Ms, own?.p50Ms);
      rows.push({ ...each, p50Ratio, rateRatio: ratio(each.queriesPerSecond, own?.queriesPerSecond) });
    }
  }
  return rows;
}

/** One after another, since each makes its index grow. */
async function ingestEach(
  places: readonly Place[],
  texts: readonly { readonly id: string; readonly text: string }[],
) {
  const rows = [];
  for (const { name, url } of places) {
    const { figures } = await ingestBatches({ url, secret: SECRET }, texts, { user: 'ingest' });
    rows.push({ server: name, ...figures });
  }
  const own = rows[0]?.documentsPerSecond ?? Number.NaN;
  return rows.map((row) => ({ ...row, ratio: round(row.documentsPerSecond / own) }));
}
