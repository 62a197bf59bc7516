import type { OnProblem } from '../../../ports.js';
import { isPacked } from '../../../text/packed-terms.js';
import type { Mirror } from './mirror.js';
import type { LoadedChunks } from './mirrored.js';
import {
  createRecordParser,
  type ParsedRecord,
  type ParseRecord,
  type RecordTexts,
} from './record-fields.js';
import type { MirrorClient, ChunkBytes } from './client.js';
import { tieKey } from './tie-key.js';

/** Documents are loaded in groups of this size, several groups at a time so that Redis is never idle. */
const GROUP_SIZE = 256;
const GROUPS_AT_ONCE = 3;
/** Chunks that one batch asks for. Two batches of each group are in flight. */
const BATCH_SIZE = 128;

/** Why the chunks of a document are not in the mirror. */
const REASONS = {
  missing: 'chunks are missing',
  terms: 'terms cannot be read',
  length: 'vectors have another length than the others',
} as const;

interface Load {
  readonly record: ParsedRecord;
  readonly chunkCount: number;
  readonly loaded: LoadedChunks;
  failure: keyof typeof REASONS | null;
}

interface Parts {
  readonly client: MirrorClient;
  readonly mirror: Mirror;
  readonly report: OnProblem;
}

/**
 * Copies documents, vectors included, from Redis into the mirror.
 * @throws what Redis rejects with, once no read is under way any more; what was copied until then stays
 */
export function createLoader(parts: Parts) {
  const parseRecord = createRecordParser();

  return async (documentIds: readonly string[]): Promise<void> => {
    const groups = slices(documentIds, GROUP_SIZE);
    const loadGroups = async () => {
      for (const group of groups) await loadGroup(group, { ...parts, parseRecord });
    };
    const ended = await Promise.allSettled(Array.from({ length: GROUPS_AT_ONCE }, loadGroups));
    for (const each of ended) if (each.status === 'rejected') throw each.reason;
  };
}

async function loadGroup(
  documentIds: readonly string[],
  parts: Parts & { readonly parseRecord: ParseRecord },
): Promise<void> {
  let remaining = documentIds;
  /** Generations with a missing chunk. If the record still names one when it is read again, its data is lost. */
  const suspects = new Set<string>();
  while (remaining.length > 0) {
    const loads = await readRecords(remaining, parts);
    await readChunks(loads, parts);
    remaining = loads.flatMap((load) => settle(load, { ...parts, suspects }));
  }
}

/** Updates the documents whose chunks the mirror has already; answers those whose chunks are to be loaded. */
async function readRecords(
  documentIds: readonly string[],
  parts: Parts & { readonly parseRecord: ParseRecord },
): Promise<Load[]> {
  const { client, mirror } = parts;
  const found = await client.readRecords(documentIds);
  const loads: Load[] = [];
  for (const [i, id] of documentIds.entries()) {
    const record = tolerate(id, found[i] ?? null, parts);
    if (!record) {
      mirror.remove(id);
      continue;
    }
    const { attempt, chunkCount } = record.published ?? { attempt: null, chunkCount: 0 };
    if (attempt === null || mirror.get(id)?.attempt === attempt) {
      mirror.put(record, attempt === null ? null : 'kept');
      continue;
    }
    const loaded = { attempt, tie: tieKey(id), slots: [] };
    loads.push({ record, chunkCount, loaded, failure: null });
  }
  return loads;
}

/** Reports a record that does not fit the schema, so that it does not keep all others from being found. */
function tolerate(
  id: string,
  texts: RecordTexts | null,
  { parseRecord, report }: { parseRecord: ParseRecord; report: OnProblem },
): ParsedRecord | null {
  try {
    return texts && parseRecord(id, texts);
  } catch (error) {
    const fields = { level: 'error', documentId: id, error: String(error) };
    report('a document is left out: its record is malformed', fields);
    return null;
  }
}

async function readChunks(loads: readonly Load[], { client, mirror }: Parts): Promise<void> {
  let inFlight: Promise<void> = Promise.resolve();
  try {
    for (const batch of batches(loads)) {
      const replies = client.readChunks(batch);
      const before = inFlight;
      // A batch may take several replies. The batch after it, which came in one, must wait for it.
      inFlight = Promise.all([replies, before]).then(([chunks]) => {
        for (const [i, chunk] of chunks.entries()) take(batch[i]?.load, chunk, mirror);
      });
      // The promise is awaited one batch later, or below.
      inFlight.catch(() => undefined);
      await before;
    }
    await inFlight;
  } catch (error) {
    await inFlight.catch(() => undefined);
    for (const { loaded } of loads) mirror.discard(loaded);
    throw error;
  }
}

interface Piece {
  readonly load: Load;
  readonly generation: string;
  readonly number: number;
}

function* batches(loads: readonly Load[]): Generator<Piece[]> {
  let batch: Piece[] = [];
  for (const load of loads) {
    const generation = generationOf(load);
    for (let number = 0; number < load.chunkCount; number += 1) {
      batch.push({ load, generation, number });
      if (batch.length < BATCH_SIZE) continue;
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

const generationOf = ({ record, loaded }: Load) => record.document.id + loaded.attempt;

/** A generator, which all who take from it share, and which ends for all when one of them fails. */
function* slices<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let first = 0; first < items.length; first += size) yield items.slice(first, first + size);
}

function take(load: Load | undefined, chunk: ChunkBytes | null, mirror: Mirror): void {
  if (load?.failure !== null) return;
  if (!chunk) load.failure = 'missing';
  else if (chunk.terms.length > 0 && !isPacked(chunk.terms)) load.failure = 'terms';
  else if (!mirror.addTo(load.loaded, chunk.vector, chunk.terms)) load.failure = 'length';
}

/** Makes loaded chunks what their document answers with. @returns the document's id if it must be read again */
function settle(
  load: Load,
  { mirror, report, suspects }: { mirror: Mirror; report: OnProblem; suspects: Set<string> },
): string[] {
  const { record, loaded, failure } = load;
  if (failure === null) {
    mirror.put(record, loaded);
    return [];
  }
  const generation = generationOf(load);
  mirror.discard(loaded);
  if (failure === 'missing' && !suspects.has(generation)) {
    // Most likely the record has moved on, and these chunks were unlinked.
    suspects.add(generation);
    return [record.document.id];
  }
  mirror.put(record, null);
  report(`a document is left out of search: ${REASONS[failure]}`, {
    level: 'error',
    documentId: record.document.id,
    generation,
  });
  return [];
}
