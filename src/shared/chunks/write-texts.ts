import { at } from '../at.js';
import { inGroups } from '../batches.js';
import type { Redis } from '../redis/client.js';
import { packReceipt } from './stored-receipt.js';
import { keys } from '../redis/keys.js';
import { marksName, textFields, withLengths, type ChunkMarks, type TextBatch } from './fields.js';
import type { GenerationEnd } from './read-chunks.js';
import { closeScript, writeTagsScript, writeTextsScript } from './scripts.js';
import { renameGroup, type Renaming } from './rename-chunks.js';

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

/**
 * Tags for consecutive chunks, made of a record in the state `of`, with the terms of chunks whose file has another name
 * now.
 */
export interface TagBatch extends ChunkMarks {
  readonly numbers: readonly number[];
  readonly of: RecordState;
  /** Null where no chunk has to be renamed; it is for chunks of one batch. */
  readonly renaming?: Renaming | null;
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
    arguments: [String(revision), String(first), marksName(batch), ...withLengths(rows)],
  });
  return outcomeOf(done);
}

/** Writes tags in many small scripts, since an engine indexes each vector anew and searches must get their turns. */
export async function writeTags(
  redis: Redis,
  generation: string,
  { numbers, of, renaming = null, ...marks }: TagBatch,
): Promise<Write> {
  const writeGroup = (group: readonly number[]) =>
    writeTagsScript.run(redis, {
      keys: [
        keys.generation(generation),
        keys.document(of.documentId),
        ...group.map((number) => keys.chunk(generation, number)),
      ],
      arguments: [String(of.revision), marks.tags, marksName(marks), String(at(group, 0))],
    });
  for (const group of inGroups(numbers)) {
    const done = renaming
      ? await renameGroup(redis, generation, { group, of, renaming, marks })
      : await writeGroup(group);
    if (done !== 1) return outcomeOf(done);
  }
  return 'written';
}

export async function taggedUpTo(redis: Redis, generation: string, marks: ChunkMarks): Promise<number> {
  const tagged = await redis.hGet(keys.generation(generation), 'tagged');
  // A generation without chunks, or one that has lost its tags, does not have the field.
  if (tagged === null) return 0;
  const [name, count] = tagged.split(':');
  return name === marksName(marks) ? Number(count) : 0;
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
