import { RESP_TYPES } from 'redis';
import { createRecords } from '../../src/shared/documents/records.js';
import { statisticsOwner } from '../../src/shared/documents/transitions.js';
import type { Redis } from '../../src/shared/redis/client.js';
import { keys } from '../../src/shared/redis/keys.js';
import { packedLength, packedTerms } from '../../src/index/scoring/packed-terms.js';
import { keysUnder } from './keys-under.js';

type Counts = Map<string, number>;

/** Term statistics of each owner, by key, as the records and the published chunks say that they should be. */
export async function recountStatistics(redis: Redis): Promise<Map<string, Counts>> {
  const binary = redis.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  const records = createRecords(redis);
  const found = new Map<string, Counts>();
  for (const documentKey of await keysUnder(redis, keys.documentPrefix)) {
    const record = await records.read(documentKey.slice(keys.documentPrefix.length));
    const owner = record && statisticsOwner(record);
    if (owner === null || !record?.published?.generation) continue;
    const counts: Counts = found.get(keys.statistics(owner)) ?? new Map<string, number>();
    found.set(keys.statistics(owner), counts);
    const add = (field: string, by: number) => counts.set(field, (counts.get(field) ?? 0) + by);
    for (let number = 0; number < record.published.chunkCount; number += 1) {
      const packed = await binary.hGet(keys.chunk(record.published.generation, number), 'terms');
      if (!(packed instanceof Buffer))
        throw new Error(`chunk ${String(number)} of ${record.id} has no terms`);
      add('chunks', 1);
      add('length', packedLength(packed));
      for (const term of packedTerms(packed)) add(String(term), 1);
    }
  }
  return found;
}

/**
 * The differences of the stored term statistics from a plain recount, in words; empty when they are exact. To be asked
 * while nothing is being ingested, re-tagged or cleaned (`isAtRest`).
 */
export async function statisticsDifferences(redis: Redis): Promise<string[]> {
  const recounted = await recountStatistics(redis);
  const stored = await keysUnder(redis, keys.statistics(''));
  const differences: string[] = [];
  for (const key of new Set([...stored, ...recounted.keys()])) {
    const is = await redis.hGetAll(key);
    const should = recounted.get(key) ?? new Map<string, number>();
    for (const field of new Set([...Object.keys(is), ...should.keys()])) {
      const [held, counted] = [Number(is[field] ?? 0), should.get(field) ?? 0];
      if (held !== counted)
        differences.push(`${key} ${field}: ${String(held)} instead of ${String(counted)}`);
    }
  }
  return differences.sort();
}

/** Tells whether no document is being ingested or re-tagged, and no generation waits to be cleaned. */
export async function isAtRest(redis: Redis): Promise<boolean> {
  const left = await Promise.all([
    redis.zCard(keys.unfinished),
    redis.sCard(keys.hidden),
    redis.sCard(keys.garbage),
  ]);
  return left.every((count) => count === 0);
}
