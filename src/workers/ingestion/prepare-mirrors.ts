import { generationId, type DocumentRecord } from '../../shared/document.js';
import type { Records } from '../../shared/documents/records.js';
import { prepare } from '../../shared/documents/transitions.js';
import type { MirrorPreparation } from '../../shared/mirror-preparation/mirror-preparation.js';
import type { MemoryWatch } from '../../shared/redis/memory.js';
import { NotYetError } from '../job-turn.js';

/** A mirror loads fewer chunks than these in some hundred milliseconds, for which nothing has to be prepared. */
const PREPARED_FROM_CHUNKS = 1_000;
const ASK_AGAIN_MILLISECONDS = 250;
/** From this part of Redis' memory share on, nothing is waited for. */
const NEARLY_SHORT = 0.9;

/**
 * Has the mirrors of exact indexes load a whole generation before it is published, so that no search waits for that. While
 * Redis is nearly short of memory this is left out: a waiting document holds two generations, and publishing frees one.
 * Once Redis is short its lane is paused, so that it would wait until others have made room.
 * @throws NotYetError while the mirrors load, for a limited time
 */
export type PrepareMirrors = (record: DocumentRecord, chunkCount: number) => Promise<void>;

export function createPrepareMirrors({
  records,
  mirrors,
  memory,
  fromChunks = PREPARED_FROM_CHUNKS,
}: {
  readonly records: Pick<Records, 'update'>;
  readonly mirrors: MirrorPreparation;
  readonly memory: Pick<MemoryWatch, 'state'>;
  readonly fromChunks?: number;
}): PrepareMirrors {
  return async (record, chunkCount) => {
    if (chunkCount < fromChunks || (await isNearlyShort(memory))) return;
    const generation = generationId(record);
    if (!isPrepared(record)) {
      if (!(await mirrors.open(generation))) return;
      const { id, version, attempt } = record;
      const fence = { documentId: id, version, attempt, generation };
      const { changed } = await records.update(id, (each) => prepare(each, { ...fence, chunkCount }), record);
      // The attempt is over then, which the step that publishes finds out.
      if (!changed) return;
    }
    if (await mirrors.areLoading(generation)) {
      throw new NotYetError(ASK_AGAIN_MILLISECONDS, 'API processes load its vectors');
    }
  };
}

async function isNearlyShort(memory: Pick<MemoryWatch, 'state'>): Promise<boolean> {
  const { used, share } = await memory.state();
  return used > NEARLY_SHORT * share;
}

/** Tells whether the newest attempt is whole, and mirrors were told to load it. */
const isPrepared = (record: DocumentRecord): boolean => record.prepared?.generation === generationId(record);
