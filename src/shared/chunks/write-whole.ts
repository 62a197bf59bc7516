import type { VectorSet } from '../data-set/stored-vectors.js';
import { keys } from '../redis/keys.js';
import type { BatchTerms } from '../term-statistics/parts.js';
import {
  embeddedFields,
  markedValue,
  textFields,
  vectorFields,
  withLengths,
  type TextBatch,
  type WholeChunk,
} from './fields.js';
import { counting } from './write-embedded.js';

/** A generation that consists of one batch. */
export interface WholeTexts extends Omit<TextBatch, 'first' | 'chunks'> {
  readonly chunks: readonly WholeChunk[];
  /** The tokens of all chunks together. */
  readonly tokens: number;
}

/** The same, whose terms fit one step. */
export interface WholeGeneration extends WholeTexts {
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

export function wholeWrite(vectors: VectorSet, { terms, owner, ...whole }: WholeGeneration): WholeWrite {
  const { generation, tags, chunks } = whole;
  const { fields, rows } = wholeFields(vectors, whole);
  return {
    generation,
    tags,
    keys: [keys.statistics(owner), ...chunks.map(({ number }) => keys.chunk(generation, number))],
    arguments: [...withLengths([fields]), ...counting({ batch: 0, terms, owner }), ...withLengths(rows)],
  };
}

/** Returns the fields of a generation that is closed and embedded, and the fields of each of its chunks. */
export function wholeFields(
  vectors: VectorSet,
  { chunks, tokens, ...batch }: WholeTexts,
): { readonly fields: string[]; readonly rows: (string | Buffer)[][] } {
  const [mark, count] = embeddedFields(vectors, 0);
  const closed = ['document', batch.documentId, 'chunks', String(chunks.length), 'tokens', String(tokens)];
  const inParts = chunks.some((chunk) => chunk.inParts) ? ['in_parts', '1'] : [];
  const fields = [...closed, mark, '1', count, '1', 'tagged', markedValue(batch, chunks.length), ...inParts];
  const rows = chunks.map((chunk) => [...textFields(batch, chunk), ...vectorFields(chunk, vectors)]);
  return { fields, rows };
}
