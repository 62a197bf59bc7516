import {
  coveredShare,
  createSectionShare,
  scoreWithSection,
  SECTION_CHUNKS,
  sectionOf,
  type TermWeights,
} from '../../../index/index.js';
import { sumOf } from '../../at.js';
import { slicesOf } from '../../batches.js';
import type { CallOptions } from '../../ports.js';
import type { Redis } from '../../redis/client.js';
import { keys } from '../../redis/keys.js';
import { declareScript } from '../../redis/script.js';
import { nextSlice } from '../../tools/time-slices.js';
import { readField } from './read-field.js';

/** A chunk with its own score. */
export interface OwnScore {
  readonly generation: string;
  readonly number: number;
  /** NaN for a chunk that is not there any more. */
  readonly own: number;
  /** Its packed terms. */
  readonly terms: Uint8Array;
}

/** Returns the own score of a chunk. */
export function ownShare(terms: Uint8Array, weights: TermWeights, counts: Uint8Array): number {
  return terms.length > 0 ? coveredShare(terms, weights, counts) : 0;
}

/** The chunks of one section that has more than one, by number, with the terms that are known. */
interface Section {
  readonly generation: string;
  readonly first: number;
  readonly terms: (Uint8Array | null)[];
  /** The share that all of them cover together. */
  share: number;
}

export interface SectionOptions extends CallOptions {
  readonly query: TermWeights;
}

/** Chunks that are put into their sections in one go. */
const CHUNKS_AT_ONCE = 1_000;
/** Sections whose other chunks are read and that are scored in one go. */
const SECTIONS_AT_ONCE = 64;
/** Generations whose numbers of chunks are asked for in one script. */
const GENERATIONS_AT_ONCE = 1_000;

/**
 * Makes the scores of chunks, in their order, from their own scores. It asks once how many chunks the generations have, and
 * reads the other chunks of their sections: at most 7 for each chunk, and none for a document of one chunk. Works in
 * slices, since there may be tens of thousands of them.
 */
export async function scoreWithSections(
  client: Redis,
  chunks: readonly OwnScore[],
  { query, signal }: SectionOptions,
): Promise<Float64Array> {
  const { sections, of } = await sectionsOf(client, chunks, signal);
  const shareOf = createSectionShare(query);
  for (const [i, some] of slicesOf(sections, SECTIONS_AT_ONCE).entries()) {
    await readMissing(client, some, signal);
    if (i > 0) await nextSlice();
    for (const section of some)
      section.share = shareOf(
        section.terms.filter((terms): terms is Uint8Array => terms !== null && terms.length > 0),
      );
  }
  return Float64Array.from(chunks, ({ own }, i) => {
    const section = of[i];
    return section && own > 0 ? scoreWithSection(own, section.share) : own;
  });
}

/** Reads the terms of the chunks that nobody has proposed. One that is gone has none. */
async function readMissing(
  client: Redis,
  sections: readonly Section[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const missing = sections.flatMap(({ generation, first, terms }) =>
    terms.flatMap((known, i) => (known ? [] : [{ generation, number: first + i, terms, i }])),
  );
  const read = await readField(client, { chunks: missing, field: 'terms', signal });
  for (const [at, { terms, i }] of missing.entries()) terms[i] = read[at] ?? null;
}

/** Returns the sections, of more than one chunk, of the chunks with a score; `of` gives the section of each chunk. */
async function sectionsOf(client: Redis, chunks: readonly OwnScore[], signal: AbortSignal | undefined) {
  const scoring = chunks.filter(({ own }) => own > 0);
  const counts = await readCounts(client, [...new Set(scoring.map(({ generation }) => generation))], signal);
  const sections: Section[] = [];
  const byGeneration = new Map<string, Map<number, Section>>();
  for (const [i, { generation, number }] of scoring.entries()) {
    if (i % CHUNKS_AT_ONCE === CHUNKS_AT_ONCE - 1) await nextSlice();
    const first = sectionOf(number);
    const size = Math.min(SECTION_CHUNKS, sumOf(counts, generation) - first);
    const ofGeneration = byGeneration.get(generation) ?? new Map<number, Section>();
    byGeneration.set(generation, ofGeneration);
    if (size <= 1 || ofGeneration.has(first)) continue;
    const section = { generation, first, terms: Array.from({ length: size }, () => null), share: 0 };
    ofGeneration.set(first, section);
    sections.push(section);
  }
  const of: (Section | null)[] = [];
  for (const { generation, number, terms } of chunks) {
    if (of.length % CHUNKS_AT_ONCE === CHUNKS_AT_ONCE - 1) await nextSlice();
    const section = byGeneration.get(generation)?.get(sectionOf(number)) ?? null;
    if (section && number - section.first < section.terms.length)
      section.terms[number - section.first] = terms;
    of.push(section);
  }
  return { sections, of };
}

const countsScript = declareScript({ keys: { generations: 'keys' }, args: {} }).lua<string[]>(`
local counts = {}
for i, generation in ipairs(generations) do counts[i] = redis.call('HGET', generation, 'chunks') or '0' end
return counts`);

/** Reads the numbers of chunks of generations; 0 for generations that are gone or not written whole. */
async function readCounts(
  client: Redis,
  generations: readonly string[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const some of slicesOf(generations, GENERATIONS_AT_ONCE)) {
    signal?.throwIfAborted();
    const read = await countsScript.run(client, {
      keys: { generations: some.map(keys.generation) },
      args: {},
    });
    for (const [i, generation] of some.entries()) counts.set(generation, Number(read[i]));
  }
  return counts;
}
