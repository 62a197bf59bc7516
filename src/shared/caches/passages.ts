import { randomUUID } from 'node:crypto';
import { at } from '../at.js';
import { BATCH_SIZE } from '../batches.js';
import { trimsChunks } from '../chunking.js';
import type { Chunks } from '../chunks/chunks.js';
import { freshText } from '../chunks/fields.js';
import type { DocumentRecord } from '../document.js';
import type { Records } from '../documents/records.js';
import type { Passage } from '../ports.js';
import type { Jobs } from '../queues/jobs.js';
import type { CacheMember, BuiltCache, CacheRecord } from './cache-record.js';
import type { CacheStore } from './cache-store.js';
import { startBuild } from './transitions.js';

/** The texts of a cache are longer than may be read at once. */
export class TextsTooLongError extends Error {
  override readonly name = 'TextsTooLongError';
}

/** Finds out which documents a cache may answer from: those that its owner may read and wants to see, as things are now. */
export type FindUsable = () => Promise<(record: DocumentRecord) => boolean>;

/** The whole text of a document of a cache, and the chunks that it was put together from. */
export interface CachePassage extends Passage {
  readonly generation: string;
  /** In the order of the text. */
  readonly parts: readonly TextPart[];
}

/** The part of a whole text that a chunk adds to those before it. */
export interface TextPart {
  /** The number of the chunk. */
  readonly number: number;
  /** Where it begins in the whole text, in UTF-16 units. */
  readonly start: number;
  /** The units at the start of the chunk that the whole text has not: they are repeated from before. */
  readonly overlap: number;
}

/** The owner of a cache, in whose turns records are read, and the documents that they may use. */
interface CacheReader {
  readonly ownerId: string;
  readonly findUsable: FindUsable;
}

interface CacheTexts extends CacheReader {
  readonly members: readonly CacheMember[];
  /** The most characters of all texts together. */
  readonly maxCharacters: number;
}

/**
 * Reads the whole texts of a cache's documents, in their order. It leaves out documents that cannot be used any more, that
 * were deleted, or that serve another text than when the cache was built. Records are checked after the texts are read.
 * @throws TextsTooLongError as soon as the texts are known to be longer than `maxCharacters`
 */
export async function readCachePassages(
  { records, chunks }: { records: Records; chunks: Chunks },
  { ownerId, findUsable, members, maxCharacters }: CacheTexts,
): Promise<CachePassage[]> {
  const texts: WholeText[] = [];
  let room = maxCharacters;
  for (const member of members) {
    const text = await readWholeText(chunks, member, room);
    if (text === null) throw new TextsTooLongError(`more than ${String(maxCharacters)} characters`);
    room -= text.text.length;
    texts.push(text);
  }
  const isUsable = await findUsable();
  const passages: CachePassage[] = [];
  let place = 0;
  for await (const record of records.readEach(idsOf(members), ownerId)) {
    const { documentId, generation } = at(members, place);
    if (record?.published?.generation === generation && isUsable(record))
      passages.push({ documentId, generation, chunkNumber: 0, ...at(texts, place) });
    place += 1;
  }
  return passages;
}

const idsOf = (members: readonly CacheMember[]): string[] => members.map(({ documentId }) => documentId);

/**
 * Returns the content that each of the wanted documents serves now, without documents that are gone or cannot be used.
 * `tokenCount` is the sum over all their chunks, which is more than the tokens of their texts, since chunks overlap.
 */
export async function currentMembers(
  records: Records,
  { ownerId, findUsable, documentIds }: CacheReader & { readonly documentIds: readonly string[] },
): Promise<{ readonly members: CacheMember[]; readonly tokenCount: number }> {
  const isUsable = await findUsable();
  const members: CacheMember[] = [];
  let sum = 0;
  for await (const record of records.readEach(documentIds, ownerId)) {
    if (!record?.published?.generation || !isUsable(record)) continue;
    const { generation, chunkCount, tokenCount, chunking } = record.published;
    const trimming = trimsChunks(chunking) ? { isTrimmed: true } : {};
    members.push({ documentId: record.id, generation, chunkCount, ...trimming });
    sum += tokenCount;
  }
  return { members, tokenCount: sum };
}

type WholeText = Pick<CachePassage, 'text' | 'parts'>;

/** Reads the whole text of a document; null when it is longer than `maxCharacters`. */
async function readWholeText(
  chunks: Chunks,
  { generation, chunkCount, isTrimmed = false }: CacheMember,
  maxCharacters: number,
): Promise<WholeText | null> {
  let text = '';
  const parts: TextPart[] = [];
  for (let first = 0; first < chunkCount; first += BATCH_SIZE) {
    const batch = await chunks.readTexts(generation, first, Math.min(BATCH_SIZE, chunkCount - first));
    for (const chunk of batch) {
      const fresh = freshText(chunk, { isTrimmed, isFirst: text === '' });
      const { number, overlap } = chunk;
      parts.push({ number, overlap, start: text.length + fresh.length - (chunk.text.length - overlap) });
      text += fresh;
    }
    if (text.length > maxCharacters) return null;
  }
  return { text, parts };
}

interface RenewalParts {
  readonly caches: CacheStore;
  readonly jobs: Pick<Jobs, 'addCacheBuild'>;
}

/**
 * Starts to build a cache anew, without texts that its owner may no longer read, unless the cache is being built already.
 * Nobody has asked for it: it is no operation of the owner's.
 * @returns the cache as it is now; null when there is none
 */
export async function startRenewal(
  { caches, jobs }: RenewalParts,
  {
    ownerId,
    name,
    requestId,
  }: { readonly ownerId: string; readonly name: string; readonly requestId: string },
): Promise<CacheRecord | null> {
  const build = randomUUID();
  const { cache, changed } = await caches.update(ownerId, name, (current) => {
    if (!current?.ready || current.building) return null;
    const { config, members } = current.ready;
    const documentIds = members.map(({ documentId }) => documentId);
    return startBuild(current, { ownerId, name, build, requestId, operation: null, config, documentIds });
  });
  if (changed && cache?.building) {
    const documents = cache.building.documentIds.length;
    await jobs.addCacheBuild({ ownerId, name, build, requestId }, { documents });
  }
  return cache;
}

/** Returns the number of texts that the cache holds. */
export const heldTexts = ({ members, leftOut }: BuiltCache): number => members.length - leftOut.length;

/** Tells whether a cache holds exactly the texts that can be used now. */
export async function isUpToDate(
  records: Pick<Records, 'readEach'>,
  { ownerId, findUsable }: CacheReader,
  { members, leftOut }: BuiltCache,
): Promise<boolean> {
  const isUsable = await findUsable();
  const without = new Set(leftOut);
  let place = 0;
  for await (const record of records.readEach(idsOf(members), ownerId)) {
    const { documentId, generation } = at(members, place);
    const isThere = record?.published?.generation === generation && isUsable(record);
    if (isThere === without.has(documentId)) return false;
    place += 1;
  }
  return true;
}
