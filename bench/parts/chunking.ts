import { get_encoding } from 'tiktoken';
import type * as source from '../../src/workers/chunking/chunk.js';
import { round } from '../support/client.js';
import { loadCollection, type Collection } from '../support/collections.js';
import { importCompiled } from '../support/import-compiled.js';

// @NOTE under its source's type: the tokens of the tokenizer are only beside the compiled file
const { chunkText } = (await importCompiled('workers/chunking/chunk.js')) as typeof source;

const ROUNDS = 5;
/** A text is chunked in so many parts, one after the other. The first ones also pay for the compiling of the code. */
const PARTS = 6;
const UNCOUNTED_PARTS = 2;
const OTHER_LANGUAGES = ['xquad-de', 'xquad-zh'];

/** Chunking beside raw tiktoken encoding of the same text, alternated in one process: of text never seen before, and again. */
export function measureChunking(english: Collection) {
  const others = OTHER_LANGUAGES.flatMap((name) => loadCollection(name) ?? []);
  const figures = [english, ...others].map(({ name, documents }) => {
    const paragraphs = documents.map(({ text }) => text);
    const unseen = compareParts(paragraphs).slice(UNCOUNTED_PARTS);
    const again = Array.from({ length: ROUNDS }, () => compare(paragraphs));
    const best = (of: (each: Speeds) => number) => Math.max(...again.map(of));
    const [chunking, tiktoken] = [best((each) => each.chunking), best((each) => each.tiktoken)];
    return {
      collection: name,
      unseenRatio: round(median(unseen.map((each) => each.chunking / each.tiktoken))),
      chunkingMegabytesPerSecond: round(chunking),
      tiktokenMegabytesPerSecond: round(tiktoken),
      ratio: round(chunking / tiktoken),
    };
  });
  console.table(figures);
  return { figures, measured: {} };
}

/** Megabytes of text a second. */
interface Speeds {
  readonly chunking: number;
  readonly tiktoken: number;
}

function compareParts(paragraphs: readonly string[]): Speeds[] {
  const size = Math.ceil(paragraphs.length / PARTS);
  return Array.from({ length: PARTS }, (_, i) => compare(paragraphs.slice(i * size, (i + 1) * size)));
}

const encoding = get_encoding('cl100k_base');

/** @param paragraphs raw tiktoken on one string of megabytes is slower than by paragraphs: it gets the friendlier input */
function compare(paragraphs: readonly string[]): Speeds {
  const text = paragraphs.join('\n\n');
  const megabytes = Buffer.byteLength(text) / 1e6;
  const chunking = megabytes / timed(() => chunkText(text, { size: 512, overlap: 64 }));
  const tiktoken =
    megabytes / timed(() => paragraphs.map((paragraph) => encoding.encode(paragraph, [], []).length));
  return { chunking, tiktoken };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

function timed(action: () => unknown): number {
  const started = performance.now();
  action();
  return (performance.now() - started) / 1_000;
}
