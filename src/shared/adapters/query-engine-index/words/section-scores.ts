import type { TermWeights } from '../../../ports.js';
import { defineScript, type Redis } from '../../../redis/client.js';
import { keys } from '../../../redis/keys.js';
import { coveredShare } from '../../../search/bm25.js';
import { addressOf } from '../../../search/candidates.js';
import {
  createSectionShare,
  scoreWithSection,
  SECTION_CHUNKS,
  sectionOf,
} from '../../../search/section-score.js';
import { readField } from '../read-field.js';

/** A chunk with what it scores by itself. */
export interface OwnScore {
  readonly generation: string;
  readonly number: number;
  /** NaN for a chunk that is not there any more. */
  readonly own: number;
  /** Its packed terms. */
  readonly terms: Uint8Array;
}

/** What a chunk scores by itself. */
export function ownShare(terms: Uint8Array, weights: TermWeights, counts: Uint8Array): number {
  return terms.length > 0 ? coveredShare(terms, weights, counts) : 0;
}

/** Chunks of one section, by number. */
interface Section {
  readonly generation: string;
  readonly numbers: readonly number[];
}

/**
 * Makes the scores of chunks, in their order, of what they score by themselves. It asks once how many chunks the generations
 * have, and reads the other chunks of their sections: at most 7 for each chunk, and none for a document of one chunk.
 */
export async function scoreWithSections(
  client: Redis,
  chunks: readonly OwnScore[],
  query: TermWeights,
): Promise<Float64Array> {
  const sections = await sectionsOf(client, chunks);
  const terms = new Map(chunks.map((each) => [addressOf(each), each.terms]));
  const missing = [...sections.values()]
    .flatMap(({ generation, numbers }) => numbers.map((number) => ({ generation, number })))
    .filter((each) => !terms.has(addressOf(each)));
  const read = await readField(client, { chunks: missing, field: 'terms' });
  for (const [i, bytes] of read.entries()) {
    const address = missing[i];
    if (bytes && address) terms.set(addressOf(address), bytes);
  }
  const shareOf = createSectionShare(query);
  const shares = new Map<string, number>();
  for (const [name, { generation, numbers }] of sections) {
    const packed = numbers.flatMap((number) => terms.get(addressOf({ generation, number })) ?? []);
    shares.set(name, shareOf(packed.filter(({ length }) => length > 0)));
  }
  return Float64Array.from(chunks, (each) => {
    const share = shares.get(nameOf(each));
    return share === undefined ? each.own : scoreWithSection(each.own, share);
  });
}

/** The sections of more than one chunk that chunks with a score are in. */
async function sectionsOf(client: Redis, chunks: readonly OwnScore[]): Promise<ReadonlyMap<string, Section>> {
  const scoring = chunks.filter(({ own }) => own > 0);
  const generations = [...new Set(scoring.map(({ generation }) => generation))];
  const counts = await readCounts(client, generations);
  const sections = new Map<string, Section>();
  for (const chunk of scoring) {
    const { generation } = chunk;
    const first = sectionOf(chunk.number);
    const size = Math.min(SECTION_CHUNKS, (counts.get(generation) ?? 0) - first);
    if (size > 1) {
      const numbers = Array.from({ length: size }, (_, i) => first + i);
      sections.set(nameOf(chunk), { generation, numbers });
    }
  }
  return sections;
}

const countsScript = defineScript<string[]>(`
local counts = {}
for i, key in ipairs(KEYS) do counts[i] = redis.call('HGET', key, 'chunks') or '0' end
return counts`);

/** How many chunks generations have; 0 for those that are gone or not written whole. */
async function readCounts(
  client: Redis,
  generations: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (generations.length === 0) return new Map();
  const counts = await countsScript.run(client, { keys: generations.map(keys.generation), arguments: [] });
  return new Map(generations.map((generation, i) => [generation, Number(counts[i])]));
}

/** The address of the first chunk of its section. */
const nameOf = ({ generation, number }: OwnScore): string =>
  addressOf({ generation, number: sectionOf(number) });
