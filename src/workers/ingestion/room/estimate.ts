import { setImmediate as turn } from 'node:timers/promises';
import { packedSize, readTerms } from '../../../index/index.js';
import { packWhereabouts, type ChunkText } from '../../../shared/chunks/fields.js';
import { searchedTerms, type Naming } from '../../../shared/chunks/searched-text.js';
import { termTokens } from '../../../shared/text/term-tokens.js';
import type { ChunkCosts } from './chunk-costs.js';

/*
 * Estimates the memory that the chunks of a document will take in Redis, by the facts that are known once it is cut into
 * chunks. The figures are upper bounds of measurements with texts of many kinds (test/e2e/room.test.ts).
 */

/** The key of a chunk, the table of its fields, their names, and the short ones of these. */
const CHUNK_BYTES = 1_100;
/** A term that the owner's statistics do not hold yet, with its share of a table that is twice as large as it has to be. */
const TERM_BYTES = 80;

/**
 * The memory that the Query Engine takes in addition: a posting of a term, a term that it does not know yet, and a chunk in
 * its tables.
 */
const ENGINE = { posting: 14, term: 400, chunk: 500 };
const NO_ENGINE = { posting: 0, term: 0, chunk: 0 };
/** The number of vectors for which the engine makes room at once. */
const ENGINE_VECTORS = 1_024;

export interface RoomEstimate {
  /** In bytes. */
  readonly all: number;
  /** The part of it that is still to be written once the texts are. */
  readonly embedding: number;
}

/** The lengths and the end of a string. */
const STRING_HEAD = 6;

/** The event loop gets its turn after this many characters. */
const CHARACTERS_A_TURN = 100_000;

interface Known extends ChunkCosts {
  /** The tags that each chunk holds. */
  readonly tags: string;
  readonly naming: Naming;
}

export async function estimateRoom(pieces: readonly ChunkText[], known: Known): Promise<RoomEstimate> {
  const { tags, naming, vectorBytes, isIndexed } = known;
  const engine = isIndexed ? ENGINE : NO_ENGINE;
  const vectors = allocated(vectorBytes) + (isIndexed ? vectorBytes + engine.chunk : 0);
  const different = new Set<number>();
  let texts = pieces.length * (CHUNK_BYTES + allocated(Buffer.byteLength(tags)));
  let embedding = pieces.length * vectors + (isIndexed ? ENGINE_VECTORS * vectorBytes : 0);
  let sinceTurn = 0;
  for (const piece of pieces) {
    const terms = searchedTerms(piece, naming);
    texts += allocated(Buffer.byteLength(piece.text));
    texts += allocated(Buffer.byteLength(packWhereabouts(piece) ?? ''));
    embedding += allocated(terms.length) + allocated(termTokens(terms).length);
    embedding += packedSize(terms) * engine.posting;
    readTerms(terms, (term) => different.add(term));
    sinceTurn += piece.text.length;
    if (sinceTurn < CHARACTERS_A_TURN) continue;
    await turn();
    sinceTurn = 0;
  }
  embedding += different.size * (TERM_BYTES + engine.term);
  return { all: Math.ceil(texts + embedding), embedding: Math.ceil(embedding) };
}

/**
 * Returns the memory that Redis' allocator takes for a string: its bytes and its head, up to the next of four sizes between
 * powers of two.
 */
function allocated(bytes: number): number {
  const whole = bytes + STRING_HEAD;
  const step = 2 ** Math.max(3, Math.ceil(Math.log2(whole)) - 3);
  return Math.ceil(whole / step) * step;
}
