/**
 * The exact index on its own: `npm run build && npx tsx bench/exact-scan.ts [chunks] [dimensions] [chunks a document]`.
 * Fills a throw-away Redis with random vectors, then measures processes that open an index on it.
 */
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createClient } from 'redis';
import { keys } from '../src/shared/redis/keys.js';
import { packTerms } from '../src/index/scoring/packed-terms.js';
import { startTestRedis } from '../test/support/redis.js';
import type { ScanFigures } from './exact-scan-process.js';

const [chunkCount = 100_000, dimensions = 1_024, chunksADocument = 20] = process.argv.slice(2).map(Number);
/** Different terms of a chunk of 512 tokens. */
const TERMS_A_CHUNK = 180;

const redis = await startTestRedis();
try {
  await command(['CONFIG', 'SET', 'appendonly', 'no']);
  const empty = await measure(0);
  await fill();
  const full = await measure(chunkCount);
  const vectorBytes = chunkCount * dimensions * 4;
  const figures = {
    chunks: chunkCount,
    chunksADocument,
    dimensions,
    readySeconds: full.readySeconds,
    readyCpuSeconds: full.readyCpuSeconds,
    memoryOverVectors: round((full.rssBytes - empty.rssBytes) / vectorBytes),
    longestBlockMs: full.longestBlockMs,
    rawScanMs: full.rawScanMs,
    besideRawMs: full.besideRawMs,
    denseOverRaw: round(full.besideRawMs / full.rawScanMs),
    searches: full.searches,
    largestError: full.largestError,
    recall: full.recall,
  };
  console.table(figures.searches);
  console.table({ ...figures, searches: '(above)' });
  console.log(JSON.stringify(figures));
} finally {
  await redis.stop();
}

async function measure(expected: number): Promise<ScanFigures> {
  const program = fileURLToPath(new URL('./exact-scan-process.ts', import.meta.url));
  const child = fork(program, [redis.url, String(expected), String(dimensions)]);
  // @NOTE the child is the file beside this one, and this is the one message it sends.
  const [figures] = (await once(child, 'message')) as [ScanFigures];
  if (child.exitCode === null) await once(child, 'exit');
  return figures;
}

async function command(parts: string[]): Promise<void> {
  const client = await createClient({ url: redis.url }).connect();
  await client.sendCommand(parts);
  client.destroy();
}

async function fill(): Promise<void> {
  const client = await createClient({ url: redis.url }).connect();
  const now = new Date().toISOString();
  for (let first = 0, sequence = 1; first < chunkCount; first += chunksADocument, sequence += 1) {
    const id = randomUUID();
    const generation = `${id}.1.1`;
    const count = Math.min(chunksADocument, chunkCount - first);
    const content = {
      version: 1,
      kind: 'text',
      contentType: 'text/plain',
      filename: null,
      storageKey: `documents/${id}/1`,
      sizeBytes: 1,
      sha256: '0'.repeat(64),
      createdAt: now,
      generation,
      chunkCount: count,
      tokenCount: 1,
    };
    const record = {
      id,
      ownerId: 'reader',
      createdAt: now,
      updatedAt: now,
      readers: ['reader'],
      writers: ['reader'],
      admins: ['reader'],
      metadata: { number: sequence, even: sequence % 2 === 0 },
      published: content,
      pending: null,
      revision: 1,
    };
    const fields = Object.entries(record).map(([name, value]): [string, string] => [
      name,
      JSON.stringify(value),
    ]);
    await Promise.all([
      ...Array.from({ length: count }, (_, number) =>
        client.hSet(keys.chunk(generation, number), {
          vector: randomVector(),
          terms: randomTerms(),
        }),
      ),
      client.hSet(keys.document(id), Object.fromEntries(fields)),
      client.zAdd(keys.changes, { value: id, score: sequence }),
      client.set(keys.sequence, String(sequence)),
    ]);
  }
  client.destroy();
}

function randomVector(): Buffer {
  const vector = Float32Array.from({ length: dimensions }, () => Math.random() - 0.5);
  const norm = Math.hypot(...vector);
  return Buffer.from(vector.map((value) => value / norm).buffer);
}

function randomTerms(): Buffer {
  const term = () => Math.floor(Math.random() * 2 ** 32);
  const counts = new Map(Array.from({ length: TERMS_A_CHUNK }, () => [term(), 1]));
  return Buffer.from(packTerms({ length: TERMS_A_CHUNK, counts }));
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
