import type { DocumentRecord } from '../../../../shared/document.js';
import { contentMember } from '../../../../shared/documents/content-hashes.js';
import { defineScript, type Redis } from '../../../../shared/redis/client.js';
import { keys } from '../../../../shared/redis/keys.js';
import type { SweepParts, SweepTask } from '../sweep-task.js';
import { throughChanges } from './through-changes.js';

/**
 * Enters documents that an earlier version wrote into the list by which their owners find them by content. The commit of
 * all other documents enters them.
 */
export const contentHashesTask = ({ redis, records }: SweepParts): SweepTask => ({
  name: 'content hashes',
  begin: (now) =>
    throughChanges({ redis, records }, { key: keys.contentHashesFilled, now }, (record) =>
      enter(redis, record),
    ),
});

async function enter(redis: Redis, record: DocumentRecord): Promise<void> {
  const member = contentMember(record);
  if (member === null) return;
  await script.run(redis, {
    keys: [keys.document(record.id), keys.contentHashes(record.ownerId)],
    arguments: [String(record.revision), member],
  });
}

/** A record that has changed since it was read has an entry from its commit. */
const script = defineScript<number>(`
if redis.call('HGET', KEYS[1], 'revision') ~= ARGV[1] then return 0 end
return redis.call('ZADD', KEYS[2], 0, ARGV[2])
`);
