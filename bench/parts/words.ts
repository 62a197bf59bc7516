import { setTimeout as sleep } from 'node:timers/promises';
import { FIRST_VECTORS } from '../../src/shared/data-set/stored-vectors.js';
import { createRedis } from '../../src/shared/redis/client.js';
import { startBenchService, type BenchService } from '../load/bench-service.js';
import { eventLoopDelay } from '../load/loop-delay.js';
import { loadSearch } from '../load/search-load.js';
import { round } from '../support/client.js';
import type { Collection } from '../support/collections.js';
import { residentMegabytes } from '../support/machine.js';
import { createSeed } from '../support/seed.js';
import { createTexts } from '../support/texts.js';
import { isGoal, type Measured } from './goals.js';

const CLIENTS = [1, 8] as const;
const CALLERS = 1_000;
/** The chunks of each caller that the goal states. */
const CHUNKS_OF_A_CALLER = 500;
const CHUNKS_A_DOCUMENT = 20;
/** With fewer, chance makes more of the memory of a process than chunks do. */
const CERTAIN_CHUNKS = 50_000;

/**
 * Searches by words through the API at growing numbers of chunks of one caller, then as many chunks as the last of these (up
 * to 500 each) of 1,000 callers, of whom another one asks each time. Every number of chunks is met by an API process that
 * was just started.
 */
export async function measureWords(scifact: Collection, sizes: readonly number[]) {
  const queries = scifact.queries.map(({ text }) => text);
  const one = await withSeed(scifact, async (service, seed) => {
    const measure = (chunks: number) => measureSearches(service, { chunks, users: ['load'], queries });
    const stages = [await measure(0)];
    let sown = 0;
    for (const size of sizes) {
      await seed('load', size - sown);
      sown = size;
      stages.push(await measure(size));
    }
    return stages;
  });
  const share = Math.min(CHUNKS_OF_A_CALLER, Math.max(...sizes) / CALLERS);
  const chunksEach = Math.ceil(share / CHUNKS_A_DOCUMENT) * CHUNKS_A_DOCUMENT;
  const users = Array.from({ length: CALLERS }, (_, at) => `user-${String(at)}`);
  const many = await withSeed(scifact, async (service, seed) => {
    for (const user of users) await seed(user, chunksEach);
    return measureSearches(service, { chunks: CALLERS * chunksEach, users, queries });
  });
  console.log(
    'searches by words through the API, k = 10; kilobytes a chunk: what the API grew by since 0 chunks',
  );
  const rows = [...one, many].flatMap((stage) => rowsOf(stage, one[0]));
  console.table(rows);
  return { figures: rows, measured: goalsOf(one, many, chunksEach) };
}

type Stage = Awaited<ReturnType<typeof measureSearches>>;

async function withSeed<Result>(
  scifact: Collection,
  use: (service: BenchService, seed: ReturnType<typeof createSeed>) => Promise<Result>,
): Promise<Result> {
  const service = await startBenchService();
  const redis = createRedis(service.redis.url, { failFast: true, onError: console.error });
  try {
    await redis.connect();
    await service.setSync('no');
    return await use(
      service,
      createSeed(redis, { makeText: createTexts([scifact]), vectors: FIRST_VECTORS }),
    );
  } finally {
    redis.destroy();
    await service.stop();
  }
}

async function measureSearches(
  service: BenchService,
  { chunks, users, queries }: { chunks: number; users: readonly string[]; queries: readonly string[] },
) {
  await service.setSync('always');
  const began = performance.now();
  await service.startApi();
  await service.untilReady();
  const secondsToReady = round((performance.now() - began) / 1_000);
  await sleep(1_000);
  const searches = [];
  for (const clients of CLIENTS) {
    await eventLoopDelay(service.api);
    const found = await loadSearch({ ...service.target, users, queries, clients });
    const { p99 } = await eventLoopDelay(service.api);
    searches.push({ ...found, loopP99Ms: round(p99) });
  }
  const apiMb = residentMegabytes(service.api.child.pid ?? 0);
  await service.setSync('no');
  return { chunks, callers: users.length, secondsToReady, searches, apiMb };
}

function rowsOf({ chunks, callers, secondsToReady, searches, apiMb }: Stage, empty: Stage | undefined) {
  const kilobytesAChunk = chunks === 0 ? null : perChunk({ chunks, apiMb }, empty);
  return searches.map((found) => ({ chunks, callers, secondsToReady, apiMb, kilobytesAChunk, ...found }));
}

function perChunk({ chunks, apiMb }: Pick<Stage, 'chunks' | 'apiMb'>, empty: Stage | undefined): number {
  return round(((apiMb - (empty?.apiMb ?? Number.NaN)) * 1_024) / chunks);
}

function goalsOf(one: readonly Stage[], many: Stage, chunksEach: number): Measured {
  const measured: Measured = {};
  const full = one.filter(({ chunks }) => chunks > 0);
  for (const { chunks, searches, secondsToReady } of full) {
    const [alone, eight] = searches;
    const each = { 'p50 at': alone?.p50Ms, 'rate at': eight?.queriesPerSecond, 'ready at': secondsToReady };
    for (const [name, value] of Object.entries(each)) {
      const goal = `${name} ${String(chunks)}`;
      if (value !== undefined && isGoal(goal)) measured[goal] = { value };
    }
  }
  const loopDelay = ({ searches }: Stage) => searches.at(-1)?.loopP99Ms ?? Number.NaN;
  measured['loop delay'] = { value: Math.max(...full.map(loopDelay)) };
  const last = full.at(-1);
  if (last) {
    const but = last.chunks < CERTAIN_CHUNKS ? { but: `of only ${String(last.chunks)} chunks` } : {};
    measured['memory of a chunk'] = { value: perChunk(last, one[0]), ...but };
  }
  const [alone, eight] = many.searches;
  const but = chunksEach === CHUNKS_OF_A_CALLER ? {} : { but: `of ${String(chunksEach)}` };
  if (alone) measured['many p50'] = { value: alone.p50Ms, ...but };
  if (eight) measured['many rate'] = { value: eight.queriesPerSecond, ...but };
  measured['many loop delay'] = { value: loopDelay(many), ...but };
  return measured;
}
