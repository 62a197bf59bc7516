import type { Draft } from './draft.js';
import type { Mirror } from './mirror.js';
import { createRecordParser, type ParsedRecord, type ParseRecord } from './record-fields.js';
import type { ReplicaClient } from './replica-client.js';

/** Chunks asked for at once; two such batches are in flight. */
const BATCH_SIZE = 256;

export type Report = (message: string, fields: Readonly<Record<string, unknown>>) => void;

interface Load {
  readonly record: ParsedRecord;
  readonly generation: string;
  readonly chunkCount: number;
  readonly draft: Draft;
  failure: 'missing' | 'length' | null;
}

/**
 * Brings the mirror's copy of documents up to their records, vectors included.
 * @throws whatever Redis rejects with; what was copied until then stays
 */
export function createLoader(parts: {
  readonly client: ReplicaClient;
  readonly mirror: Mirror;
  readonly report: Report;
}) {
  const { client, mirror, report } = parts;
  const parseRecord = tolerate(createRecordParser(), report);

  return async (documentIds: readonly string[]): Promise<void> => {
    let remaining = documentIds;
    /** Generations with a missing chunk: when the record still names one after that, its data is lost. */
    const suspects = new Set<string>();
    while (remaining.length > 0) {
      const loads = await readRecords(remaining, { client, mirror, parseRecord });
      await readChunks(loads, client);
      remaining = loads.flatMap((load) => settle(load, { mirror, report, suspects }));
    }
  };
}

/** Takes over what needs no vectors; answers what does. */
async function readRecords(
  documentIds: readonly string[],
  { client, mirror, parseRecord }: { client: ReplicaClient; mirror: Mirror; parseRecord: ParseRecord },
): Promise<Load[]> {
  const found = await Promise.all(documentIds.map((id) => client.readRecord(id)));
  return found.flatMap((values, i): Load[] => {
    const id = documentIds[i] ?? '';
    const record = parseRecord(id, values);
    if (!record) {
      mirror.remove(id);
      return [];
    }
    const { generation, chunkCount } = record.published ?? { generation: null, chunkCount: 0 };
    const known = mirror.get(id)?.content ?? null;
    if (generation === null || known?.generation === generation) {
      mirror.put(record, generation === null ? null : 'kept');
      return [];
    }
    return [{ record, generation, chunkCount, draft: mirror.draft(id), failure: null }];
  });
}

/** One record that does not fit the schema must not keep all others from being found. */
function tolerate(parseRecord: ParseRecord, report: Report): ParseRecord {
  return (id, values) => {
    try {
      return parseRecord(id, values);
    } catch (error) {
      const fields = { level: 'error', documentId: id, error: String(error) };
      report('a document is left out: its record is malformed', fields);
      return null;
    }
  };
}

async function readChunks(loads: readonly Load[], client: ReplicaClient): Promise<void> {
  let inFlight: Promise<void> = Promise.resolve();
  try {
    for (const batch of batches(loads)) {
      const replies = Promise.all(batch.map(({ load, number }) => client.readChunk(load.generation, number)));
      const before = inFlight;
      inFlight = replies.then((chunks) => {
        for (const [i, chunk] of chunks.entries()) take(batch[i]?.load, chunk);
      });
      // Awaited one batch later, or below.
      inFlight.catch(() => undefined);
      await before;
    }
    await inFlight;
  } catch (error) {
    await inFlight.catch(() => undefined);
    for (const { draft } of loads) draft.discard();
    throw error;
  }
}

function* batches(loads: readonly Load[]): Generator<{ load: Load; number: number }[]> {
  let batch: { load: Load; number: number }[] = [];
  for (const load of loads) {
    for (let number = 0; number < load.chunkCount; number += 1) {
      batch.push({ load, number });
      if (batch.length < BATCH_SIZE) continue;
      yield batch;
      batch = [];
    }
  }
  yield batch;
}

function take(load: Load | undefined, chunk: { vector: Uint8Array; terms: Uint8Array } | null): void {
  if (load?.failure !== null) return;
  if (!chunk) load.failure = 'missing';
  else if (!load.draft.add(chunk.vector, chunk.terms)) load.failure = 'length';
}

/** Makes a load what its document answers with. @returns the document's id if it must be read again */
function settle(
  { record, generation, draft, failure }: Load,
  { mirror, report, suspects }: { mirror: Mirror; report: Report; suspects: Set<string> },
): string[] {
  if (failure === null) {
    mirror.put(record, draft.finish(generation));
    return [];
  }
  draft.discard();
  if (failure === 'missing' && !suspects.has(generation)) {
    // Most likely its chunks were unlinked because the record has moved on.
    suspects.add(generation);
    return [record.document.id];
  }
  mirror.put(record, null);
  const reason = failure === 'missing' ? 'chunks are missing' : 'vectors have another length than the others';
  report(`a document is left out of search: ${reason}`, {
    level: 'error',
    documentId: record.document.id,
    generation,
  });
  return [];
}
