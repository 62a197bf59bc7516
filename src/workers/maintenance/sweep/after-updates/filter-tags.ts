import type { DocumentRecord } from '../../../../shared/document.js';
import { documentTags } from '../../../../shared/documents/record-fields.js';
import { renewTags } from '../../../../shared/documents/transitions.js';
import { defineScript } from '../../../../shared/redis/client.js';
import { keys } from '../../../../shared/redis/keys.js';
import type { SweepParts, SweepTask } from '../sweep-task.js';
import { throughChanges } from './through-changes.js';

/**
 * Gives documents that an earlier version wrote the tags of today: filters ask for owners by now, reach into objects of lists,
 * and compare file names in one normal form. The tags of their chunks are rewritten by the jobs that also follow a change of
 * metadata. Only the Query Engine reads tags, so that nothing is done while another index serves. Until all is done, the engine
 * is not asked for owners; see `owner-tags.ts`.
 */
export const filterTagsTask = (parts: SweepParts): SweepTask => ({
  name: 'filter tags',
  begin: (now) => {
    const renewAll = throughChanges(parts, { key: keys.filterTagsRenewed, now }, (record) =>
      renew(parts, record),
    );
    return async () => (await parts.redis.hExists(keys.schema, 'index')) === 1 && renewAll();
  },
});

async function renew({ redis, records, jobs }: SweepParts, { id }: DocumentRecord): Promise<void> {
  const stored = await redis.hGet(keys.document(id), 'tags');
  const { record, changed } = await records.update(id, (now) =>
    documentTags(now) === stored ? null : renewTags(now),
  );
  if (!record || !changed) return;
  await script.run(redis, {
    keys: [keys.document(id)],
    arguments: [String(record.revision), documentTags(record)],
  });
  await jobs.addRetag(id, record.retag, { callerId: record.ownerId, requestId: 'sweep' });
}

/** A record that has changed since has the tags of that change. */
const script = defineScript<number>(`
if redis.call('HGET', KEYS[1], 'revision') ~= ARGV[1] then return 0 end
return redis.call('HSET', KEYS[1], 'tags', ARGV[2])
`);
