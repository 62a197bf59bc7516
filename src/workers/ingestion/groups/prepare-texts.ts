import { packedTerms } from '../../../index/index.js';
import { at } from '../../../shared/at.js';
import { INDEXED_AT_ONCE, slicesOf } from '../../../shared/batches.js';
import { nameMark, type ChunkText, type TextVector, type WholeChunk } from '../../../shared/chunks/fields.js';
import { namingOf } from '../../../shared/chunks/searched-text.js';
import { callerOf, generationId, type DocumentRecord } from '../../../shared/document.js';
import type { PublishedText } from '../../../shared/documents/commit/publish-group.js';
import { parseRecordList, RECORD_FIELDS } from '../../../shared/documents/record-fields.js';
import { publish, statisticsOwner, withLaterGaps } from '../../../shared/documents/transitions.js';
import { UnavailableError, MalformedRecordError } from '../../../shared/errors.js';
import type { Logger } from '../../../shared/observability/logger.js';
import { defineFrequentScript, type Redis } from '../../../shared/redis/client.js';
import { keys } from '../../../shared/redis/keys.js';
import { TERMS_AT_ONCE } from '../../../shared/term-statistics/parts.js';
import { nextSlice } from '../../../shared/tools/time-slices.js';
import { gapsOf, wholeChunks } from '../embed-pieces.js';
import { tagsWhenPublished } from '../write-tags.js';

/** A text with all that publishing it writes. */
export interface PreparedText {
  readonly published: PublishedText;
  readonly userId: string;
  /** The owner whose term statistics count it; null for nobody's. */
  readonly owner: string | null;
  /** The terms of all chunks. Those that several chunks have may come again. */
  readonly terms: readonly number[];
  /** The approximate number of bytes to write. */
  readonly bytes: number;
}

export interface PrepareParts {
  /** @throws IngestError when there are no chunks */
  readonly chunkText: (text: string) => Promise<readonly ChunkText[]>;
  /** @throws IngestError, UnavailableError */
  readonly embedPieces: (pieces: readonly ChunkText[], signal: AbortSignal) => Promise<readonly TextVector[]>;
  /** The number of texts that are embedded at a time: few where this process does it, so that others have their turn. */
  readonly embeddedAtOnce: number;
  readonly logger: Pick<Logger, 'warn'>;
}

interface Run {
  readonly signal: AbortSignal;
  /** Called for a document that is left to a job of its own. It throws errors that the whole group waits for. */
  readonly leave: (record: DocumentRecord, error: unknown) => void;
}

/**
 * Notes which documents are left to jobs of their own. Errors that say nothing of a text are thrown: the absence of the
 * provider or of Redis, and the reason of the signal.
 */
export function createLeaving({ logger }: Pick<PrepareParts, 'logger'>, signal: AbortSignal) {
  const others: string[] = [];
  const leave = (record: DocumentRecord, error: unknown) => {
    if (error instanceof UnavailableError || signal.aborted) throw error;
    logger.warn({ documentId: record.id, err: error }, 'a text of a group is ingested alone');
    others.push(record.id);
  };
  return { others, leave };
}

interface ChunkedText {
  readonly record: DocumentRecord;
  /** The tags name the content by fields that stay the same when it is published, so that its chunks get them as they are. */
  readonly tags: string;
  readonly pieces: readonly ChunkText[];
}

/** A text whose chunks have their vectors. */
interface EmbeddedText extends ChunkedText {
  readonly vectors: readonly TextVector[];
}

/** Cuts texts into chunks. */
export async function chunkTexts(
  { chunkText }: Pick<PrepareParts, 'chunkText'>,
  found: readonly FoundText[],
  { signal, leave }: Run,
): Promise<ChunkedText[]> {
  const chunked: ChunkedText[] = [];
  for (const { record, tags, text } of found) {
    await nextSlice();
    signal.throwIfAborted();
    try {
      chunked.push({ record, tags, pieces: await chunkText(text) });
    } catch (error) {
      leave(record, error);
    }
  }
  return chunked;
}

/** Embeds the chunks of texts. One that is refused fails alone. */
export async function embedTexts(
  { embedPieces, embeddedAtOnce }: Pick<PrepareParts, 'embedPieces' | 'embeddedAtOnce'>,
  chunked: readonly ChunkedText[],
  { signal, leave }: Run,
): Promise<EmbeddedText[]> {
  const embedded: EmbeddedText[] = [];
  for (const slice of slicesOf(chunked, embeddedAtOnce)) {
    await nextSlice();
    signal.throwIfAborted();
    const ended = await Promise.allSettled(slice.map(({ pieces }) => embedPieces(pieces, signal)));
    for (const [i, each] of slice.entries()) {
      const made = ended[i];
      if (made?.status === 'fulfilled') embedded.push({ ...each, vectors: made.value });
      else leave(each.record, made?.reason);
    }
  }
  return embedded;
}

/** Makes all data that publishing the texts writes. `others` are texts that do not fit a step or are not like new ones. */
export async function prepareTexts(
  embedded: readonly EmbeddedText[],
  { signal, leave }: Run,
): Promise<{ readonly prepared: readonly PreparedText[]; readonly others: readonly string[] }> {
  const prepared: PreparedText[] = [];
  const others: string[] = [];
  for (const each of embedded) {
    await nextSlice();
    signal.throwIfAborted();
    try {
      const text = prepareText(
        each,
        wholeChunks(each.pieces, { vectors: each.vectors, naming: namingOf(each.record.pending) }),
      );
      if (text) prepared.push(text);
      else others.push(each.record.id);
    } catch (error) {
      leave(each.record, error);
    }
  }
  return { prepared, others };
}

/** Null for a text that does not fit a step, or a document that is not like a new one. */
function prepareText({ record, ...known }: ChunkedText, chunks: readonly WholeChunk[]): PreparedText | null {
  if (chunks.length > INDEXED_AT_ONCE) return null;
  const terms = chunks.flatMap((chunk) => packedTerms(chunk.terms));
  if (terms.length > TERMS_AT_ONCE) return null;
  const { id: documentId, version, attempt } = record;
  const generation = generationId(record);
  const tokens = chunks.reduce((sum, chunk) => sum + chunk.tokenCount, 0);
  const laterGaps = gapsOf(chunks);
  const newTags = laterGaps > 0 ? tagsWhenPublished(withLaterGaps(record, laterGaps)) : null;
  const tags = newTags ?? known.tags;
  const counts = { chunkCount: chunks.length, tokenCount: tokens, laterGaps };
  const change = publish(record, { documentId, version, attempt, generation, ...counts });
  if (!change?.record || record.published !== null || record.retag > 0) return null;
  return {
    published: {
      before: record,
      after: change.record,
      newTags,
      usage: change.usage ?? [],
      whole: {
        documentId,
        generation,
        chunks,
        tags,
        named: nameMark(record.pending?.filename ?? null),
        tokens,
      },
    },
    userId: callerOf(record),
    owner: statisticsOwner(record),
    terms,
    bytes: bytesOf(chunks, tags),
  };
}

const bytesOf = (chunks: readonly WholeChunk[], tags: string): number =>
  chunks.reduce(
    (sum, { text, vector, terms }) =>
      sum + 2 * text.length + vector.byteLength + 4 * terms.length + tags.length,
    0,
  );

/** The bytes that are read at once, which takes Redis about a millisecond. */
const ENOUGH_BYTES = 512 * 1024;

/** A record with its tags and its short source. */
export interface FoundText {
  readonly record: DocumentRecord;
  readonly tags: string;
  readonly text: string;
}

/**
 * Reads the first of some records with their short sources, at least one. An entry is null where there is no such record, it
 * has no short source, or cannot be read.
 */
export async function readGroup(redis: Redis, ids: readonly string[]): Promise<(FoundText | null)[]> {
  const rows = await readScript.run(redis, {
    keys: ids.map(keys.document),
    arguments: [String(ENOUGH_BYTES), String(RECORD_FIELDS.indexOf('pending') + 1), 'tags', ...RECORD_FIELDS],
  });
  return Array.from({ length: rows.length / 3 }, (_, i) => {
    const [fields, tags, text] = [at(rows, 3 * i), at(rows, 3 * i + 1), at(rows, 3 * i + 2)];
    if (fields === '' || tags === '') return null;
    try {
      return { record: parseRecordList(fields), tags, text };
    } catch (error) {
      // The document's own job reports the fault of the record.
      if (error instanceof MalformedRecordError) return null;
      throw error;
    }
  });
}

/** Answers for each record a JSON list of its fields, its tags, and its source. They are empty where one is missing. */
const readScript = defineFrequentScript<string[]>(`
local rows, bytes, enough, pending = {}, 0, tonumber(ARGV[1]), tonumber(ARGV[2])
for i, key in ipairs(KEYS) do
  local row = redis.call('HMGET', key, unpack(ARGV, 3))
  local fields, source = '', false
  local content = row[pending + 1]
  local place = content and string.match(content, '"storageKey":"(record/[^"]+)"')
  if place then source = redis.call('HGET', key, place) end
  if source then
    for j = 2, #row do row[j] = row[j] or 'null' end
    fields = '[' .. table.concat(row, ',', 2) .. ']'
  end
  rows[3 * i - 2], rows[3 * i - 1], rows[3 * i] = fields, row[1] or '', source or ''
  bytes = bytes + #fields + #rows[3 * i - 1] + #rows[3 * i]
  if bytes >= enough then break end
end
return rows`);
