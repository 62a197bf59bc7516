import type { VectorSet } from '../data-set/stored-vectors.js';
import { keys } from '../redis/keys.js';
import type { BatchTerms } from '../term-statistics/parts.js';
import {
  embeddedFields,
  taggedValue,
  textFields,
  vectorFields,
  withLengths,
  type TextBatch,
  type WholeChunk,
} from './fields.js';
import { counting } from './write-embedded.js';

/** A generation that consists of one batch, whose terms fit one step. */
export interface WholeGeneration extends Omit<TextBatch, 'first' | 'chunks'> {
  readonly chunks: readonly WholeChunk[];
  /** The tokens of all chunks together. */
  readonly tokens: number;
  /** The terms of all chunks together. */
  readonly terms: BatchTerms;
  /** The owner whose term statistics count the chunks; null for nobody's. */
  readonly owner: string | null;
}

/** The keys and arguments with which the step that publishes a generation writes all of it. */
export interface WholeWrite {
  readonly generation: string;
  /** The tags of the record at the revision that the write is for, and of all its chunks. */
  readonly tags: string;
  readonly keys: readonly string[];
  readonly arguments: readonly (string | Buffer)[];
}

export function wholeWrite(
  vectors: VectorSet,
  { chunks, tokens, terms, owner, ...batch }: WholeGeneration,
): WholeWrite {
  const { documentId, generation, tags } = batch;
  const [mark, count] = embeddedFields(vectors, 0);
  const closed = ['document', documentId, 'chunks', String(chunks.length), 'tokens', String(tokens)];
  const fields = [...closed, mark, '1', count, '1', 'tagged', taggedValue(tags, chunks.length)];
  const rows = chunks.map((chunk) => [...textFields(batch, chunk), ...vectorFields(chunk, vectors)]);
  return {
    generation,
    tags,
    keys: [keys.statistics(owner), ...chunks.map(({ number }) => keys.chunk(generation, number))],
    arguments: [...withLengths([fields]), ...counting({ batch: 0, terms, owner }), ...withLengths(rows)],
  };
}
