import { at } from '../../../shared/at.js';
import type { DocumentRecord } from '../../../shared/document.js';
import { contentMember } from '../../../shared/documents/content-hashes.js';
import { defineScript, type Redis } from '../../../shared/redis/client.js';
import { keys } from '../../../shared/redis/keys.js';
import type { SweepParts, SweepTask } from './sweep-task.js';

const PAGE = 200;
/** Fields of records that are read at once. */
const READ_BYTES = 1024 ** 2;
/** For so long after an update, processes of the earlier version may still write documents without an entry. */
const ROLLING_RESTART_MS = 3_600_000;

/**
 * Enters documents that an earlier version wrote into the list by which their owners find them by content. It follows the
 * change log until an hour after it began, and then is done for good. All other documents are entered by their commit.
 */
export const contentHashesTask = ({ redis, records }: SweepParts): SweepTask => ({
  name: 'content hashes',
  begin: (now) => async () => {
    const { since, sequence = '0', done } = await redis.hGetAll(keys.contentHashesFilled);
    if (done !== undefined) return false;
    const page = await redis.zRangeWithScores(keys.changes, `(${sequence}`, '+inf', {
      BY: 'SCORE',
      LIMIT: { offset: 0, count: PAGE },
    });
    if (page.length === 0) {
      // In data that is new, there was no earlier version.
      if (since === undefined || now - Number(since) >= ROLLING_RESTART_MS)
        await redis.hSet(keys.contentHashesFilled, 'done', String(now));
      return false;
    }
    await redis.hSetNX(keys.contentHashesFilled, 'since', String(now));
    const ids = page.map(({ value }) => value);
    const read = await records.readSome(ids, READ_BYTES);
    await Promise.all(read.map(async (record) => record && enter(redis, record)));
    const last = at(page, read.length - 1);
    await redis.hSet(keys.contentHashesFilled, 'sequence', String(last.score));
    return read.length < page.length || page.length === PAGE;
  },
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
