import { packedLength, packedTerms } from '../../index/index.js';
import { addTo, at } from '../../shared/at.js';
import { INDEXED_AT_ONCE, slicesOf } from '../../shared/batches.js';
import { nameMark, type ChunkText, type TextVector, type WholeChunk } from '../../shared/chunks/fields.js';
import { namingOf } from '../../shared/chunks/searched-text.js';
import { callerOf, generationId, type Content, type DocumentRecord } from '../../shared/document.js';
import type { GroupTerms, PublishedText } from '../../shared/documents/commit/publish-group.js';
import { hasAttachmentWork } from '../../shared/documents/attachments/attachment-changes.js';
import { parseRecordList, RECORD_FIELDS } from '../../shared/documents/record-fields.js';
import type { Records } from '../../shared/documents/records.js';
import {
  isCurrent,
  publish,
  statisticsOwner,
  withLaterGaps,
  type Fence,
} from '../../shared/documents/transitions.js';
import { IngestError, MalformedRecordError, UnavailableError } from '../../shared/errors.js';
import type { Logger } from '../../shared/observability/logger.js';
import type { WorkerMetrics } from '../../shared/observability/worker-metrics.js';
import type { Jobs } from '../../shared/queues/jobs.js';
import type { Redis } from '../../shared/redis/client.js';
import { keys } from '../../shared/redis/keys.js';
import { declareScript } from '../../shared/redis/script.js';
import { TERMS_AT_ONCE } from '../../shared/term-statistics/count-steps.js';
import { nextSlice } from '../../shared/tools/time-slices.js';
import { traced } from '../../shared/tracing/tracing.js';
import { countLaterGaps, gapsOf, wholeChunks } from './embed-pieces.js';
import { tagsWhenPublished } from './write-tags.js';

interface ShortParts extends PrepareParts {
  readonly redis: Redis;
  readonly records: Pick<Records, 'publishGroup'>;
  readonly jobs: Pick<Jobs, 'addCleans'>;
  readonly metrics: Pick<WorkerMetrics, 'add'>;
  readonly limits: StepLimits;
  /** @throws UnavailableError while Redis is short of memory */
  readonly requireMemory: () => Promise<void>;
}

export interface ShortRun {
  readonly signal: AbortSignal;
  /** Does work for the processor or Redis when it is its turn. A turn ends while a provider is asked. */
  readonly inTurn: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

interface Done {
  /** The number of documents that were read, from the first on. */
  readonly count: number;
  readonly published: number;
  /** Documents among these that take the way of files, each alone. */
  readonly others: readonly string[];
}

/** Ingests the first of some short texts, as many as are read at once. */
export type IngestShort = (fences: readonly Fence[], run: ShortRun) => Promise<Done>;

/**
 * Ingests short texts, one or many: reads, chunks and embeds them, and publishes them in as few steps as Redis can do
 * quickly. Everything is computed first, and then written in the step that publishes it, so that a record stays queued until
 * then, even if the process dies. Unusual documents are left to the way of files: texts of many chunks, documents that are
 * patched meanwhile, and texts that are refused or take the place of a mail with attachments.
 */
export function createIngestShort(parts: ShortParts): IngestShort {
  return async (fences, { signal, inTurn }) => {
    const { others, leave } = createLeaving(parts, signal);
    const ids = fences.map(({ documentId }) => documentId);
    const read = async () => {
      const found = await readGroup(parts.redis, ids);
      others.push(...missing(ids, found));
      const waiting = found.flatMap((each, i) =>
        each && isWaiting(each.record, at(fences, i)) ? [each] : [],
      );
      const chunk = () => chunkTexts(parts, waiting, { signal, leave });
      return { found, chunked: waiting.length > 0 ? await traced('chunk', {}, chunk) : [] };
    };
    const { found, chunked } = await inTurn(read);
    if (chunked.length === 0) return { count: found.length, published: 0, others };
    const embedded = await embedTexts(parts, chunked, { signal, leave });
    const finish = async () => {
      const prepared = await prepareTexts(embedded, { signal, leave });
      const attributes = { 'quire.documents': prepared.length };
      const changed = await traced('publish', { attributes }, () => publishAll(parts, prepared));
      return { published: prepared.length - changed.length, changed };
    };
    const { published, changed } = await inTurn(finish);
    return { count: found.length, published, others: [...others, ...changed] };
  };
}

/** The ids of documents that were looked for and cannot be ingested with others. */
const missing = (ids: readonly string[], found: readonly (FoundText | null)[]): string[] =>
  ids.slice(0, found.length).filter((_, i) => found[i] === null);

/** Publishes texts, and resolves with the ids of documents that have changed since they were read. */
async function publishAll(parts: ShortParts, prepared: readonly PreparedText[]): Promise<string[]> {
  const { records, metrics, limits, requireMemory } = parts;
  const changed: string[] = [];
  for (let left = prepared; left.length > 0;) {
    const { texts, terms } = nextStep(left, limits);
    const [first] = texts;
    if (!first) throw new Error('no text fits a step');
    await requireMemory();
    const { userId, owner } = first;
    const refused = await records.publishGroup({
      documents: texts.map(({ published }) => published),
      userId,
      owner,
      terms,
    });
    if (refused.length > 0) {
      // Nothing was written. The others are published without them.
      const out = new Set(refused.map((place) => texts[place]));
      for (const each of out) if (each) changed.push(each.published.before.id);
      left = left.filter((each) => !out.has(each));
      continue;
    }
    left = left.slice(texts.length);
    const bytes = texts.reduce((sum, { published: { before } }) => sum + (before.pending?.sizeBytes ?? 0), 0);
    metrics.add('quire_ingested_documents_total', {}, texts.length);
    metrics.add('quire_ingested_bytes_total', {}, bytes);
    countLaterGaps(
      metrics,
      texts.reduce((sum, { published: { after } }) => sum + (after.published?.gaps ?? 0), 0),
    );
    const discarded = texts.flatMap(({ published: { effects } }) => effects.discard ?? []);
    if (discarded.length > 0) await parts.jobs.addCleans(discarded, ownerOf(first));
  }
  return changed;
}

export const isWaiting = (record: DocumentRecord, fence: Fence): boolean =>
  record.status === 'queued' && isCurrent(record, fence);

/** The size of one step of publishing, which holds Redis up for some milliseconds. */
interface StepLimits {
  readonly chunks: number;
  readonly bytes: number;
  readonly terms: number;
}

/** Takes as many texts from the front as one step may publish, at least one. All of them belong to the same user. */
function nextStep(
  prepared: readonly PreparedText[],
  limits: StepLimits,
): { readonly texts: readonly PreparedText[]; readonly terms: GroupTerms } {
  const first = prepared[0];
  const frequencies = new Map<number, number>();
  let [chunks, bytes, length, count] = [0, 0, 0, 0];
  for (const text of prepared) {
    const { chunks: own } = text.published.whole;
    if (count > 0) {
      const isOver = chunks + own.length > limits.chunks || bytes + text.bytes > limits.bytes;
      if (isOver || text.owner !== first?.owner || text.userId !== first.userId) break;
      if (ownerOf(text) !== ownerOf(first)) break;
      if (frequencies.size + countNew(frequencies, text.terms, limits.terms) > limits.terms) break;
    }
    for (const term of text.terms) addTo(frequencies, term);
    chunks += own.length;
    bytes += text.bytes;
    for (const { terms } of own) length += packedLength(terms);
    count += 1;
  }
  return { texts: prepared.slice(0, count), terms: { chunks, length, frequencies } };
}

const ownerOf = ({ published }: PreparedText): string => published.before.ownerId;

/**
 * Returns the number of terms that are not counted yet. It may be too high when some terms come again; only then are they
 * looked at closely.
 */
function countNew(
  frequencies: ReadonlyMap<number, number>,
  terms: readonly number[],
  mostTerms: number,
): number {
  let fresh = 0;
  for (const term of terms) if (!frequencies.has(term)) fresh += 1;
  if (frequencies.size + fresh <= mostTerms) return fresh;
  return new Set(terms.filter((term) => !frequencies.has(term))).size;
}

/** A text with all that publishing it writes. */
interface PreparedText {
  readonly published: PublishedText;
  readonly userId: string;
  /** The owner whose term statistics count it; null for nobody's. */
  readonly owner: string | null;
  /** The terms of all chunks. Those that several chunks have may come again. */
  readonly terms: readonly number[];
  /** The approximate number of bytes to write. */
  readonly bytes: number;
}

interface PrepareParts {
  /** @throws IngestError when there are no chunks */
  readonly chunkText: (text: string, chunking: Content['chunking']) => Promise<readonly ChunkText[]>;
  /** @throws IngestError, UnavailableError */
  readonly embedPieces: (pieces: readonly ChunkText[], signal: AbortSignal) => Promise<readonly TextVector[]>;
  /** The number of texts that are embedded at a time: few where this process does it, so that others have their turn. */
  readonly embeddedAtOnce: number;
  readonly logger: Pick<Logger, 'warn'>;
}

interface PrepareRun {
  readonly signal: AbortSignal;
  /** Called for a document that is left to the way of files. It throws errors that all of them wait for. */
  readonly leave: (record: DocumentRecord, error?: unknown) => void;
}

/**
 * Notes which documents are left to the way of files. Errors that say nothing of a text are thrown: the absence of the
 * provider or of Redis, and the reason of the signal.
 */
function createLeaving({ logger }: Pick<PrepareParts, 'logger'>, signal: AbortSignal) {
  const others: string[] = [];
  const leave: PrepareRun['leave'] = (record, error) => {
    if (error instanceof UnavailableError) throw error;
    signal.throwIfAborted();
    const isFault = error !== undefined && !(error instanceof IngestError);
    if (isFault) logger.warn({ documentId: record.id, err: error }, 'a short text is ingested as a file is');
    others.push(record.id);
  };
  return { others, leave };
}

interface ChunkedText {
  readonly record: DocumentRecord;
  /** The tags name new content by fields that stay the same when it is published, so that its chunks get them as they are. */
  readonly tags: string;
  readonly pieces: readonly ChunkText[];
}

/** A text whose chunks have their vectors. */
interface EmbeddedText extends ChunkedText {
  readonly vectors: readonly TextVector[];
}

/** Cuts texts into chunks. */
async function chunkTexts(
  { chunkText }: Pick<PrepareParts, 'chunkText'>,
  found: readonly FoundText[],
  { signal, leave }: PrepareRun,
): Promise<ChunkedText[]> {
  const chunked: ChunkedText[] = [];
  for (const { record, tags, text } of found) {
    await nextSlice();
    signal.throwIfAborted();
    try {
      const pieces = await chunkText(text, record.pending?.chunking);
      // More chunks than a step publishes are not embedded in vain.
      if (pieces.length > INDEXED_AT_ONCE) leave(record);
      else chunked.push({ record, tags, pieces });
    } catch (error) {
      leave(record, error);
    }
  }
  return chunked;
}

/** Embeds the chunks of texts. One that is refused fails alone. */
async function embedTexts(
  { embedPieces, embeddedAtOnce }: Pick<PrepareParts, 'embedPieces' | 'embeddedAtOnce'>,
  chunked: readonly ChunkedText[],
  { signal, leave }: PrepareRun,
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

/** Makes all data that publishing the texts writes. */
async function prepareTexts(
  embedded: readonly EmbeddedText[],
  { signal, leave }: PrepareRun,
): Promise<readonly PreparedText[]> {
  const prepared: PreparedText[] = [];
  for (const each of embedded) {
    await nextSlice();
    signal.throwIfAborted();
    try {
      const text = prepareText(
        each,
        wholeChunks(each.pieces, { vectors: each.vectors, naming: namingOf(each.record.pending) }),
      );
      if (text) prepared.push(text);
      else leave(each.record);
    } catch (error) {
      leave(each.record, error);
    }
  }
  return prepared;
}

/** Null for a text of more terms than one step counts, or a document that has work left when it is published. */
function prepareText({ record, ...known }: ChunkedText, chunks: readonly WholeChunk[]): PreparedText | null {
  const terms = chunks.flatMap((chunk) => packedTerms(chunk.terms));
  if (new Set(terms).size > TERMS_AT_ONCE) return null;
  const { id: documentId, version, attempt } = record;
  const generation = generationId(record);
  const tokens = chunks.reduce((sum, chunk) => sum + chunk.tokenCount, 0);
  const laterGaps = gapsOf(chunks);
  const isChanged = laterGaps > 0 || record.published !== null;
  const newTags = isChanged ? tagsWhenPublished(withLaterGaps(record, laterGaps)) : null;
  const tags = newTags ?? known.tags;
  const counts = { chunkCount: chunks.length, tokenCount: tokens, laterGaps };
  const change = publish(record, { documentId, version, attempt, generation, ...counts });
  if (!change?.record || hasAttachmentWork(change.record)) return null;
  return {
    published: {
      before: record,
      after: change.record,
      newTags,
      effects: change,
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
interface FoundText {
  readonly record: DocumentRecord;
  readonly tags: string;
  readonly text: string;
}

/**
 * Reads the first of some records with their short sources, at least one. An entry is null where there is no such record, it
 * has no short source, or cannot be read.
 */
async function readGroup(redis: Redis, ids: readonly string[]): Promise<(FoundText | null)[]> {
  const rows = await readScript.run(redis, {
    keys: { records: ids.map(keys.document) },
    args: { enough: ENOUGH_BYTES, fields: RECORD_FIELDS },
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

/** Answers for each record a JSON list of its fields, its tags, and its short source: all empty where it has none. */
const readScript = declareScript({
  keys: { records: 'keys' },
  args: { enough: 'number', fields: 'list' },
}).frequentLua<string[]>(`
local rows, bytes = {}, 0
for i, record in ipairs(records) do
  local json, tags, source = '', '', ''
  local name = string.match(redis.call('HGET', record, 'pending') or '', '"storageKey":"(record/[^"]+)"')
  local row = name and redis.call('HMGET', record, name, 'tags', unpack(fields)) or {}
  if row[1] then
    for j = 3, #row do row[j] = row[j] or 'null' end
    json, tags, source = '[' .. table.concat(row, ',', 3) .. ']', row[2] or '', row[1]
  end
  rows[3 * i - 2], rows[3 * i - 1], rows[3 * i] = json, tags, source
  bytes = bytes + #json + #tags + #source
  if bytes >= enough then break end
end
return rows`);
