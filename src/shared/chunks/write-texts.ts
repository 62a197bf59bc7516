import { at } from '../at.js';
import { inGroups } from '../batches.js';
import type { Redis } from '../redis/client.js';
import { packReceipt } from '../extraction/stored-receipt.js';
import { keys } from '../redis/keys.js';
import { tagsName, textFields, withLengths, type TextBatch } from './fields.js';
import type { GenerationEnd } from './read-chunks.js';
import { closeScript, writeTagsScript, writeTextsScript } from './scripts.js';

/**
 * `refused` means that the generation was discarded. `overtaken` means that the record is no longer
 * at the given revision, or that earlier writes are missing.
 */
export type Write = 'written' | 'refused' | 'overtaken';

/** The state of the record that tags were made of. */
export interface RecordState {
  readonly documentId: string;
  readonly revision: number;
}

/** Tags for consecutive chunks, made of a record in the state `of`. */
export interface TagBatch {
  readonly numbers: readonly number[];
  readonly tags: string;
  readonly of: RecordState;
}

export async function writeTexts(
  redis: Redis,
  { first, chunks, ...batch }: TextBatch,
  revision: number,
): Promise<Write> {
  const rows = chunks.map((chunk, i) => textFields(batch, { ...chunk, number: first + i }));
  const done = await writeTextsScript.run(redis, {
    keys: [
      keys.generation(batch.generation),
      keys.document(batch.documentId),
      ...chunks.map((_, i) => keys.chunk(batch.generation, first + i)),
    ],
    arguments: [String(revision), String(first), tagsName(batch.tags), ...withLengths(rows)],
  });
  return outcomeOf(done);
}

/** Writes tags in many small scripts, since an engine indexes each vector anew and searches must get their turns. */
export async function writeTags(
  redis: Redis,
  generation: string,
  { numbers, tags, of }: TagBatch,
): Promise<Write> {
  for (const group of inGroups(numbers)) {
    const done = await writeTagsScript.run(redis, {
      keys: [
        keys.generation(generation),
        keys.document(of.documentId),
        ...group.map((number) => keys.chunk(generation, number)),
      ],
      arguments: [String(of.revision), tags, tagsName(tags), String(at(group, 0))],
    });
    if (done !== 1) return outcomeOf(done);
  }
  return 'written';
}

export async function taggedUpTo(redis: Redis, generation: string, tags: string): Promise<number> {
  const tagged = await redis.hGet(keys.generation(generation), 'tagged');
  // A generation without chunks, or one that has lost its tags, does not have the field.
  if (tagged === null) return 0;
  const [name, count] = tagged.split(':');
  return name === tagsName(tags) ? Number(count) : 0;
}

export async function closeTexts(
  redis: Redis,
  generation: string,
  { chunks, tokens, receipt }: GenerationEnd,
): Promise<boolean> {
  const done = await closeScript.run(redis, {
    keys: [keys.generation(generation)],
    arguments: [
      'chunks',
      String(chunks),
      'tokens',
      String(tokens),
      ...(receipt ? ['receipt', packReceipt(receipt)] : []),
    ],
  });
  return done === 1;
}

const outcomeOf = (done: number): Write => (done === 1 ? 'written' : done === -1 ? 'refused' : 'overtaken');
