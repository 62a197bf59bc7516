/** Run by exact-scan.ts: one process with an index on `url`, measured from the side of who asks. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, RESP_TYPES } from 'redis';
import type * as source from '../src/shared/adapters/exact-index/exact-index.js';
import type { Candidate } from '../src/shared/ports.js';
import { keys } from '../src/shared/redis/keys.js';
import { importCompiled } from './support/import-compiled.js';
import { createRawScan } from './support/raw-scan.js';

export interface ScanFigures {
  readonly readySeconds: number;
  /** The time of all threads of the process, which a busy machine does not change much. */
  readonly readyCpuSeconds: number;
  readonly rssBytes: number;
  readonly longestBlockMs: number;
  /** Median of a scan of the same vectors row by row, alternated with the dense searches. */
  readonly rawScanMs: number;
  readonly besideRawMs: number;
  readonly searches: readonly SearchFigures[];
  /** The largest error of similarities, against double precision. */
  readonly largestError: number;
  /** Share of the true best that dense searches found. */
  readonly recall: number;
}

interface SearchFigures {
  readonly query: string;
  readonly limit: number;
  readonly p50: number;
  readonly p95: number;
  /** CPU time of all threads of the process. */
  readonly cpuMs: number;
}

const ROUNDS = 40;
const K = 10;
const [url = '', ...sizes] = process.argv.slice(2);
const [chunkCount = 0, dimensions = 0] = sizes.map(Number);

// @NOTE the thread's program exists only compiled: the compiled index is measured, under its source's type.
const { createExactIndex } = (await importCompiled(
  'shared/adapters/exact-index/exact-index.js',
)) as typeof source;

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const started = performance.now();
const index = await createExactIndex({ redisUrl: url, onProblem: console.error });
while ((await index.state()) !== 'ready') await sleep(5);
const readySeconds = (performance.now() - started) / 1000;
const readyCpuSeconds = cpuMilliseconds() / 1000;
const searches: SearchFigures[] = [];
if (chunkCount > 0) {
  for (const nonzero of [dimensions, 150, 50, 12]) {
    for (const limit of [10, 400]) searches.push(await measureSearches(nonzero, limit));
  }
}
const longestBlockMs = delay.max / 1e6;
const { rss: rssBytes } = process.memoryUsage();
const compared =
  chunkCount > 0 ? await compare() : { rawScanMs: 0, besideRawMs: 0, largestError: 0, recall: 1 };
await index.close();
const figures: ScanFigures = {
  readySeconds,
  readyCpuSeconds,
  rssBytes,
  longestBlockMs,
  searches,
  ...compared,
};
process.send?.(figures);
process.disconnect();

async function measureSearches(nonzero: number, limit: number): Promise<SearchFigures> {
  const times: number[] = [];
  const cpuBefore = cpuMilliseconds();
  for (let round = 0; round < ROUNDS; round += 1) {
    const vector = randomQuery(nonzero);
    const begun = performance.now();
    await search(vector, limit);
    times.push(performance.now() - begun);
  }
  return {
    query: `${String(nonzero)} nonzero`,
    limit,
    p50: quantile(times, 0.5),
    p95: quantile(times, 0.95),
    cpuMs: Math.round(((cpuMilliseconds() - cpuBefore) / ROUNDS) * 100) / 100,
  };
}

/** Alternates raw scans and searches, and holds the answers against a reference in double precision. */
async function compare() {
  const raw = createRawScan(chunkCount, dimensions);
  const names = await readVectors(raw.vectors);
  const [rawTimes, searchTimes]: [number[], number[]] = [[], []];
  let [largestError, hits] = [0, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    const vector = randomQuery(dimensions);
    let begun = performance.now();
    raw.best(vector);
    rawTimes.push(performance.now() - begun);
    begun = performance.now();
    const candidates = await search(vector, K);
    searchTimes.push(performance.now() - begun);
    if (round % 10 !== 0) continue;
    const reference = bestOf(raw.vectors, vector);
    const least = reference[K - 1]?.score ?? 0;
    for (const { documentId, number, score } of candidates) {
      const position = names.get(`${documentId}:${String(number)}`) ?? -1;
      const exact = product(raw.vectors, position, vector);
      largestError = Math.max(largestError, Math.abs(exact - score));
      if (exact >= least - 1e-7) hits += 1;
    }
  }
  const rawScanMs = quantile(rawTimes, 0.5);
  return {
    rawScanMs,
    besideRawMs: quantile(searchTimes, 0.5),
    largestError,
    recall: hits / (K * (ROUNDS / 10)),
  };
}

function cpuMilliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function search(vector: Float32Array, limit: number): Promise<Candidate[]> {
  return index.vectors.search({ vector, principal: { id: 'reader' }, filter: null, limit });
}

/** Fills `into` row by row. @returns the row of each chunk */
async function readVectors(into: Float32Array): Promise<Map<string, number>> {
  const client = await createClient({ url }).connect();
  const binary = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  const rows = new Map<string, number>();
  const bytes = new Uint8Array(into.buffer, into.byteOffset, into.byteLength);
  for (const documentId of await client.zRange(keys.changes, 0, -1)) {
    for (let number = 0; ; number += 1) {
      const vector = await binary.hGet(keys.chunk(`${documentId}.1.1`, number), 'vector');
      if (!vector) break;
      bytes.set(vector, rows.size * dimensions * 4);
      rows.set(`${documentId}:${String(number)}`, rows.size);
    }
  }
  client.destroy();
  return rows;
}

function bestOf(vectors: Float32Array, query: Float32Array): { row: number; score: number }[] {
  const scores = Array.from({ length: chunkCount }, (_, row) => ({
    row,
    score: product(vectors, row, query),
  }));
  return scores.sort((a, b) => b.score - a.score).slice(0, K);
}

function product(vectors: Float32Array, row: number, query: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < dimensions; i += 1) sum += (vectors[row * dimensions + i] ?? 0) * (query[i] ?? 0);
  return sum;
}

function randomQuery(nonzero: number): Float32Array {
  const query = new Float32Array(dimensions);
  for (let i = 0; i < nonzero; i += 1) {
    const at = nonzero === dimensions ? i : Math.floor(Math.random() * dimensions);
    query[at] = Math.random() - 0.5;
  }
  const norm = Math.hypot(...query);
  return query.map((value) => value / norm);
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round((sorted[Math.floor(sorted.length * share)] ?? 0) * 100) / 100;
}
