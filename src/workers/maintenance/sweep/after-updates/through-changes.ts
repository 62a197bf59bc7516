import { at } from '../../../../shared/at.js';
import type { DocumentRecord } from '../../../../shared/document.js';
import { keys } from '../../../../shared/redis/keys.js';
import type { SweepParts, SweepStep } from '../sweep-task.js';

const PAGE = 200;
/** Fields of records that are read at once. */
const READ_BYTES = 1024 ** 2;
/** The time after an update in which processes of the earlier version may still write documents as they used to. */
const ROLLING_RESTART_MS = 3_600_000;

/**
 * Does something with each document once after an update of the service, page by page. It follows the change log until an hour
 * after it began, and then is done for good. `key` names the hash in which it notes how far it is.
 */
export const throughChanges =
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
