import { get_encoding } from 'tiktoken';
import type * as source from '../../src/workers/chunking/chunk.js';
import { round } from '../support/client.js';
import type { Collection } from '../support/collections.js';
import { importCompiled } from '../support/import-compiled.js';

// @NOTE under its source's type: the tokens of the tokenizer are only beside the compiled file
const { chunkText } = (await importCompiled('workers/chunking/chunk.js')) as typeof source;

const ROUNDS = 5;

/** Chunking beside raw tiktoken encoding of the same text, alternated in one process. */
export function measureChunking({ documents }: Collection) {
  const text = documents.map((document) => document.text).join('\n\n');
  const encoding = get_encoding('cl100k_base');
  // Raw tiktoken on one string of megabytes is slower than by paragraphs: it gets the friendlier input.
  const paragraphs = text.split('\n\n');
  const times = { chunking: [] as number[], tiktoken: [] as number[] };
  for (let i = 0; i < ROUNDS; i += 1) {
    times.chunking.push(timed(() => chunkText(text, { size: 512, overlap: 64 })));
    times.tiktoken.push(
      timed(() => paragraphs.map((paragraph) => encoding.encode(paragraph, [], []).length)),
    );
  }
  encoding.free();
  const speed = (values: number[]) => Buffer.byteLength(text) / 1e6 / Math.min(...values);
  const [chunking, tiktoken] = [speed(times.chunking), speed(times.tiktoken)];
  const figures = {
    chunkingMegabytesPerSecond: round(chunking),
    tiktokenMegabytesPerSecond: round(tiktoken),
    ratio: round(chunking / tiktoken),
  };
  console.table([figures]);
  return { figures, measured: {} };
}

function timed(action: () => unknown): number {
  const started = performance.now();
  action();
  return (performance.now() - started) / 1_000;
}
