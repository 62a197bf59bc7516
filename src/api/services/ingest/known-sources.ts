import { at } from '../../../shared/at.js';
import type { DocumentRecord } from '../../../shared/document.js';
import type { Records } from '../../../shared/documents/records.js';
import type { Redis } from '../../../shared/redis/client.js';
import { keys } from '../../../shared/redis/keys.js';
import { declareScript } from '../../../shared/redis/script.js';

/** Finds the documents of an owner by the names of their sources. */
export interface KnownSources {
  find(ownerId: string, sourceId: string): Promise<DocumentRecord | null>;
}

export function createKnownSources(
  redis: Redis,
  records: Pick<Records, 'readMany' | 'inTurn'>,
): KnownSources {
  return {
    find: async (ownerId, sourceId) => {
      const key = keys.sourceIds(ownerId);
      const id = await redis.hGet(key, sourceId);
      if (id === null) return null;
      const record = at(await records.inTurn(ownerId, () => records.readMany([id])), 0);
      if (record && isOfSource(record, ownerId, sourceId)) return record;
      const revision = record ? String(record.revision) : '';
      await forgetScript.run(redis, {
        keys: { sources: key, record: keys.document(id) },
        args: { source: sourceId, id, revision },
      });
      return null;
    },
  };
}

export const isOfSource = (record: DocumentRecord, ownerId: string, sourceId: string): boolean =>
  record.ownerId === ownerId && record.sourceId === sourceId;

/** A process of an earlier version, or a hand, has changed or deleted the record without the entry. */
const forgetScript = declareScript({
  keys: { sources: 'key', record: 'key' },
  args: { source: 'text', id: 'text', revision: 'text' },
}).lua<number>(`
if (redis.call('HGET', record, 'revision') or '') ~= revision then return 0 end
if redis.call('HGET', sources, source) ~= id then return 0 end
return redis.call('HDEL', sources, source)
`);
