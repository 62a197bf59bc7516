import { isServing } from './is-serving.js';
import type { Mirror } from './mirror.js';
import type { OnProblem } from '../../../ports.js';
import type { ChunkLoader } from './chunk-loading/chunk-loader.js';
import {
  createChunkLoad,
  generationOf,
  pagesOf,
  readPages,
  REASONS,
  type ChunkLoad,
} from './chunk-loading/chunk-load.js';
import type { MirrorClient } from './client.js';
import { createRecordParser, type ParsedRecord, type ParseRecord } from './record-parser.js';

/** Documents are loaded in groups of this size, several groups at a time so that Redis is never idle. */
const GROUP_SIZE = 256;
const GROUPS_AT_ONCE = 3;

/**
 * Copies documents from Redis into the mirror. Both functions throw the errors that Redis rejects with; documents that were
 * copied until then stay.
 */
export interface DocumentLoader {
  /** Copies documents with their chunks, while nothing is answered yet. */
  loadWhole(documentIds: readonly string[]): Promise<void>;
  /** Takes over records. Their chunks follow in the background. */
  takeOver(documentIds: readonly string[]): Promise<void>;
}

interface DocumentLoaderOptions {
  readonly client: Pick<MirrorClient, 'readRecords' | 'readChunks'>;
  readonly mirror: Mirror;
  readonly background: ChunkLoader;
  readonly report: OnProblem;
}
type Reading = DocumentLoaderOptions & { readonly parseRecord: ParseRecord };

export function createDocumentLoader(parts: DocumentLoaderOptions): DocumentLoader {
  const reading = { ...parts, parseRecord: createRecordParser() };
  return {
    loadWhole: (documentIds) => inGroups(documentIds, (group) => loadGroup(group, reading)),
    takeOver: (documentIds) =>
      inGroups(documentIds, async (group) => {
        for (const record of await readRecords(group, reading)) parts.background.follow(record);
      }),
  };
}

/** Works on several groups at a time. @throws the error of the first one that failed, once all have ended */
async function inGroups(
  documentIds: readonly string[],
  work: (group: readonly string[]) => Promise<void>,
): Promise<void> {
  const groups = slices(documentIds, GROUP_SIZE);
  const workOn = async () => {
    for (const group of groups) await work(group);
  };
  const ended = await Promise.allSettled(Array.from({ length: GROUPS_AT_ONCE }, workOn));
  for (const each of ended) if (each.status === 'rejected') throw each.reason;
}

/** Makes groups of items for all who take from it. It ends for all when one of them fails. */
function* slices<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let first = 0; first < items.length; first += size) yield items.slice(first, first + size);
}

/** Reads the records that exist and can be read; the mirror forgets all other documents. */
async function readRecords(
  documentIds: readonly string[],
  { client, mirror, background, parseRecord, report }: Reading,
): Promise<ParsedRecord[]> {
  const found = await client.readRecords(documentIds);
  return documentIds.flatMap((id, i) => {
    const texts = found[i] ?? null;
    try {
      if (texts) return [parseRecord(id, texts)];
    } catch (error) {
      // It must not keep all others from being found.
      const fields = { level: 'error', documentId: id, error: String(error) };
      report('a document is left out: its record is malformed', fields);
    }
    background.forget(id);
    mirror.remove(id);
    return [];
  });
}

interface WholeLoad {
  readonly record: ParsedRecord;
  readonly load: ChunkLoad;
}

async function loadGroup(documentIds: readonly string[], reading: Reading): Promise<void> {
  const { mirror, background } = reading;
  let remaining = documentIds;
  /** Generations with a missing chunk. If the record still names one when it is read again, its data is lost. */
  const suspects = new Set<string>();
  while (remaining.length > 0) {
    const records = await readRecords(remaining, reading);
    const loads = records.flatMap((record) => beginWhole(record, mirror));
    await readWhole(loads, reading);
    remaining = loads.flatMap((each) => settle(each, { ...reading, suspects }));
    for (const record of records)
      if (record.prepared || background.isFollowing(record.id)) background.follow(record);
  }
}

/** Updates a document whose chunks the mirror has already. Returns the loads of generations that it does not have yet. */
function beginWhole(record: ParsedRecord, mirror: Mirror): WholeLoad[] {
  const { id, published } = record;
  if (!published || isServing(mirror.get(id), published)) {
    mirror.put(record, published ? 'kept' : null);
    return [];
  }
  return [{ record, load: createChunkLoad(id, published, { isUrgent: true }) }];
}

async function readWhole(loads: readonly WholeLoad[], { client, mirror }: Reading): Promise<void> {
  const chunkLoads = loads.map(({ load }) => load);
  try {
    await readPages(pagesOf(chunkLoads), { client, mirror });
  } catch (error) {
    for (const { loaded } of chunkLoads) mirror.discard(loaded);
    throw error;
  }
}

/** Lets a document answer with its loaded chunks. @returns the document's id if it must be read again */
function settle(
  { record, load }: WholeLoad,
  { mirror, report, suspects }: { mirror: Mirror; report: OnProblem; suspects: Set<string> },
): string[] {
  const { loaded, failure } = load;
  if (failure === null) {
    mirror.put(record, loaded);
    return [];
  }
  const generation = generationOf(load);
  mirror.discard(loaded);
  if (failure === 'missing' && !suspects.has(generation)) {
    // Most likely the record has moved on, and these chunks were unlinked.
    suspects.add(generation);
    return [record.id];
  }
  mirror.put(record, null);
  report(`a document is left out of search: ${REASONS[failure]}`, {
    level: 'error',
    documentId: record.id,
    generation,
  });
  return [];
}
