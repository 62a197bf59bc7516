import { at } from '../../../shared/at.js';
import type { DocumentRecord } from '../../../shared/document.js';
import { contentMember } from '../../../shared/documents/content-hashes.js';
import { documentTags } from '../../../shared/documents/record-fields.js';
import { OWNED_FIELD, OWNED_FUNCTIONS, ownedWith, writeOwned } from '../../../shared/documents/counts.js';
import { renewTags } from '../../../shared/documents/transitions.js';
import type { Redis } from '../../../shared/redis/client.js';
import { keys } from '../../../shared/redis/keys.js';
import { declareScript } from '../../../shared/redis/script.js';
import type { SweepParts, SweepStep, SweepTask } from './sweep-task.js';

const PAGE = 200;
/** Fields of records that are read at once. */
const READ_BYTES = 1024 ** 2;
/** The time after an update in which processes of the earlier version may still write documents as they used to. */
const ROLLING_RESTART_MS = 3_600_000;

/**
 * Does something with each document once after an update of the service, page by page. It follows the change log until an hour
 * after it began, and then is done for good. `key` names the hash in which it notes how far it is.
 */
const throughChanges =
  (
    { redis, records }: Pick<SweepParts, 'redis' | 'records'>,
    { key, now }: { readonly key: string; readonly now: number },
    work: (record: DocumentRecord) => Promise<unknown>,
  ): SweepStep =>
  async () => {
    const { since, sequence = '0', done } = await redis.hGetAll(key);
    if (done !== undefined) return false;
    const page = await redis.zRangeWithScores(keys.changes, `(${sequence}`, '+inf', {
      BY: 'SCORE',
      LIMIT: { offset: 0, count: PAGE },
    });
    if (page.length === 0) {
      // In data that is new, there was no earlier version.
      if (since === undefined || now - Number(since) >= ROLLING_RESTART_MS)
        await redis.hSet(key, 'done', String(now));
      return false;
    }
    await redis.hSetNX(key, 'since', String(now));
    const ids = page.map(({ value }) => value);
    const read = await records.readSome(ids, READ_BYTES);
    await Promise.all(read.map(async (record) => record && work(record)));
    const last = at(page, read.length - 1);
    await redis.hSet(key, 'sequence', String(last.score));
    return read.length < page.length || page.length === PAGE;
  };

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
  await enterScript.run(redis, {
    keys: { record: keys.document(record.id), contents: keys.contentHashes(record.ownerId) },
    args: { revision: record.revision, member },
  });
}

/** A record that has changed since it was read has an entry from its commit. */
const enterScript = declareScript({
  keys: { record: 'key', contents: 'key' },
  args: { revision: 'text', member: 'text' },
}).lua<number>(`
if redis.call('HGET', record, 'revision') ~= revision then return 0 end
return redis.call('ZADD', contents, 0, member)
`);

/**
 * Gives documents that an earlier version wrote the tags of today: filters ask for owners by now, reach into objects of lists,
 * compare file names in one normal form, and ask for collections, which processes of the earlier version leave out while both run. The tags of their chunks are rewritten by the jobs that also follow a change of
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
  await tagsScript.run(redis, {
    keys: { record: keys.document(id) },
    args: { revision: record.revision, tags: documentTags(record) },
  });
  await jobs.addRetag(id, record.retag, { callerId: record.ownerId, requestId: 'sweep' });
}

/** A record that has changed since has the tags of that change. */
const tagsScript = declareScript({
  keys: { record: 'key' },
  args: { revision: 'text', tags: 'text' },
}).lua<number>(`
if redis.call('HGET', record, 'revision') ~= revision then return 0 end
return redis.call('HSET', record, 'tags', tags)
`);

/** Counts documents that an earlier version wrote in the amounts of their owners. The commit of all others counts them. */
export const ownedTask = ({ redis, records }: SweepParts): SweepTask => ({
  name: 'what owners have',
  begin: (now) =>
    throughChanges({ redis, records }, { key: keys.ownedCounted, now }, (record) => count(redis, record)),
});

const count = (redis: Redis, record: DocumentRecord): Promise<number> =>
  countScript.run(redis, {
    keys: {
      record: keys.document(record.id),
      owned: keys.owned(record.ownerId),
      totals: keys.ownedTotals,
    },
    args: { revision: record.revision, amounts: writeOwned(ownedWith(record)) },
  });

/** A record that has changed since it was read was counted by its commit, or has a later place in the change log. */
const countScript = declareScript({
  keys: { record: 'key', owned: 'key', totals: 'key' },
  args: { revision: 'text', amounts: 'text' },
}).lua<number>(`${OWNED_FUNCTIONS}
local present, noted = unpack(redis.call('HMGET', record, 'revision', '${OWNED_FIELD}'))
if present ~= revision or noted == amounts then return 0 end
addOwned(owned, totals, differenceOf(noted, amounts))
return redis.call('HSET', record, '${OWNED_FIELD}', amounts)
`);
