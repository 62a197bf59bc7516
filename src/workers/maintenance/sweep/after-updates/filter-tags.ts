import type { DocumentRecord, Json } from '../../../../shared/document.js';
import { documentTags } from '../../../../shared/documents/document-tags.js';
import { renewTags } from '../../../../shared/documents/transitions.js';
import { isPlainObject } from '../../../../shared/is-plain-object.js';
import { defineScript } from '../../../../shared/redis/client.js';
import { keys } from '../../../../shared/redis/keys.js';
import type { SweepParts, SweepTask } from '../sweep-task.js';
import { throughChanges } from './through-changes.js';

/**
 * Gives documents that an earlier version wrote the tags of today: filters reach into objects of lists by now, and compare file
 * names in one normal form. The tags of their chunks are rewritten by the jobs that also follow a change of metadata.
 */
export const filterTagsTask = (parts: SweepParts): SweepTask => ({
  name: 'filter tags',
  begin: (now) =>
    throughChanges(parts, { key: keys.filterTagsRenewed, now }, async (record) => {
      if (mayHaveOldTags(record)) await renew(parts, record);
    }),
});

/** Reading the tags of each document would take long, and few have what earlier versions tagged otherwise. */
const mayHaveOldTags = ({ metadata, published, pending }: DocumentRecord): boolean =>
  hasNestedList(metadata) ||
  [published?.filename, pending?.filename, metadata['filename']].some(isOfOtherForm);

const hasNestedList = (value: Json): boolean => {
  if (Array.isArray(value)) return value.some((element) => Array.isArray(element) || isPlainObject(element));
  return isPlainObject(value) && Object.values(value).some(hasNestedList);
};

const isOfOtherForm = (name: unknown): boolean =>
  JSON.stringify(name ?? null).normalize('NFC') !== JSON.stringify(name ?? null);

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
