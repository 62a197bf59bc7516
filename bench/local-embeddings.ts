/**
 * Texts a second through `POST /v1/embeddings` of the process with local models, with the embedding model in GGUF that
 * `QUIRE_BENCH_MODEL` names: `npx tsx bench/local-embeddings.ts`, after a build. `QUIRE_BENCH_EMBEDDINGS_PEER` is the address of
 * another server of that shape that runs already (llama-server, text-embeddings-inference, onnxruntime behind a few lines), and
 * `QUIRE_BENCH_EMBEDDINGS_PEER_PID` its process: then both are asked for the same texts in turn.
 * `BENCH_THREADS` is how many threads ours has (1).
 */
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { processorSeconds } from '../test/support/processes.js';
import { startModels } from '../test/support/models-process.js';
import { findLocalModel, type LocalModel } from './quality/local-model.js';
import { percentile, round } from './support/client.js';
import { loadCollection, type Collection } from './support/collections.js';
import { describeMachine, residentMegabytes } from './support/machine.js';

/** Words of a text that make about 128 and 500 tokens of WordPiece, and how many such texts are in a request. */
const LENGTHS = [
  { words: 82, texts: 96 },
  { words: 320, texts: 32 },
] as const;
const ROUNDS = 7;

interface EmbeddingServer {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
}

const replySchema = z.object({
  data: z.array(z.object({ index: z.int(), embedding: z.base64() })),
  usage: z.object({ prompt_tokens: z.number() }),
});

function textsOf({ documents }: Collection, words: number, count: number): string[] {
  const all = documents.slice(0, 2_000).flatMap(({ text }) => text.split(/\s+/));
  return Array.from({ length: count }, (_, i) => all.slice(i * words, (i + 1) * words).join(' '));
}

async function embed({ url }: EmbeddingServer, model: string, input: readonly string[]) {
  const response = await fetch(`${url}/v1/embeddings`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, input, encoding_format: 'base64' }),
  });
  if (!response.ok) throw new Error(`${url} answered ${String(response.status)}`);
  const { data, usage } = replySchema.parse(await response.json());
  const vectors = data
    .sort((one, other) => one.index - other.index)
    .map(({ embedding }) => decode(embedding));
  return { vectors, tokens: usage.prompt_tokens };
}

function decode(embedding: string): Float32Array {
  const bytes = Uint8Array.from(Buffer.from(embedding, 'base64'));
  return new Float32Array(bytes.buffer);
}

interface Round {
  readonly seconds: number;
  readonly processorSeconds: number;
}

async function timed(server: EmbeddingServer, model: string, texts: readonly string[]) {
  const before = await processorSeconds(server.pid);
  const begin = performance.now();
  const { vectors, tokens } = await embed(server, model, texts);
  const seconds = (performance.now() - begin) / 1_000;
  const spent: Round = { seconds, processorSeconds: (await processorSeconds(server.pid)) - before };
  return { spent, vectors, tokens };
}

const cosine = (one: Float32Array, other: Float32Array) =>
  one.reduce((sum, x, i) => sum + x * (other[i] ?? 0), 0);

/** Rows of all servers for texts of one length, measured in turn. */
async function compare(servers: readonly EmbeddingServer[], model: string, texts: readonly string[]) {
  const measured = servers.map((server) => ({
    server,
    rounds: [] as Round[],
    tokens: 0,
    vectors: [] as Float32Array[],
  }));
  for (let at = -1; at < ROUNDS; at += 1) {
    for (const each of measured) {
      const { spent, vectors, tokens } = await timed(each.server, model, texts);
      Object.assign(each, { vectors, tokens });
      if (at >= 0) each.rounds.push(spent);
    }
  }
  const [ours] = measured;
  return measured.map(({ server, rounds, tokens, vectors }) => ({
    server: server.name,
    tokensOfText: round(tokens / texts.length, 0),
    textsPerSecond: round(texts.length / median(rounds.map(({ seconds }) => seconds)), 1),
    textsPerProcessorSecond: round(texts.length / median(rounds.map((each) => each.processorSeconds)), 1),
    leastCosine: round(
      Math.min(...vectors.map((vector, i) => cosine(vector, ours?.vectors[i] ?? vector))),
      3,
    ),
    memoryMb: residentMegabytes(server.pid),
  }));
}

const median = (values: readonly number[]) => percentile(values, 0.5);

function findPeer(): EmbeddingServer | null {
  const url = process.env['QUIRE_BENCH_EMBEDDINGS_PEER'];
  const pid = Number(process.env['QUIRE_BENCH_EMBEDDINGS_PEER_PID']);
  return url !== undefined && pid > 0 ? { name: 'peer', url, pid } : null;
}

async function measure({ name, folder }: LocalModel, collection: Collection) {
  const threads = process.env['BENCH_THREADS'] ?? '1';
  const models = await startModels({ QUIRE_MODELS_THREADS: threads });
  try {
    await copyFile(join(folder, name), join(models.directory, name));
    const pid = models.process.child.pid ?? 0;
    const idleMb = residentMegabytes(pid);
    const ours = { name: `models, threads: ${threads}`, url: models.url, pid };
    const peer = findPeer();
    console.log(`${name}; models idle: ${String(idleMb)} MB; ${String(ROUNDS)} rounds in turn, medians`);
    const rows = [];
    for (const { words, texts } of LENGTHS)
      rows.push(...(await compare(peer ? [ours, peer] : [ours], name, textsOf(collection, words, texts))));
    return rows;
  } finally {
    await models.stop();
  }
}

const model = findLocalModel();
const scifact = loadCollection('scifact');
if (typeof model === 'string') console.log(`skipped: ${model}`);
else if (scifact) {
  console.table(describeMachine());
  console.table(await measure(model, scifact));
}
