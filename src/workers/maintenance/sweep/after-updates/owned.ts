import type { DocumentRecord } from '../../../../shared/document.js';
import { OWNED_FIELD, OWNED_FUNCTIONS, ownedWith, writeOwned } from '../../../../shared/documents/owned.js';
import { defineScript, type Redis } from '../../../../shared/redis/client.js';
import { keys } from '../../../../shared/redis/keys.js';
import type { SweepParts, SweepTask } from '../sweep-task.js';
import { throughChanges } from './through-changes.js';

/** Counts documents that an earlier version wrote in the amounts of their owners. The commit of all others counts them. */
export const ownedTask = ({ redis, records }: SweepParts): SweepTask => ({
  name: 'what owners have',
  begin: (now) =>
    throughChanges({ redis, records }, { key: keys.ownedCounted, now }, (record) => count(redis, record)),
});

const count = (redis: Redis, record: DocumentRecord): Promise<number> =>
  script.run(redis, {
    keys: [keys.document(record.id), keys.owned(record.ownerId), keys.ownedTotals],
    arguments: [String(record.revision), writeOwned(ownedWith(record))],
  });

/** A record that has changed since it was read was counted by its commit, or has a later place in the change log. */
const script = defineScript<number>(`${OWNED_FUNCTIONS}
local revision, noted = unpack(redis.call('HMGET', KEYS[1], 'revision', '${OWNED_FIELD}'))
if revision ~= ARGV[1] or noted == ARGV[2] then return 0 end
addOwned(KEYS[2], KEYS[3], differenceOf(noted, ARGV[2]))
return redis.call('HSET', KEYS[1], '${OWNED_FIELD}', ARGV[2])
`);
