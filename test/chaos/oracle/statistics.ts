import { RESP_TYPES } from 'redis';
import type { DocumentRecord } from '../../../src/shared/document.js';
import { keys } from '../../../src/shared/keys.js';
import type { Redis } from '../../../src/shared/redis.js';
import { packedLength, packedTerms } from '../../../src/shared/terms.js';
import { countedFor } from '../../../src/shared/transitions.js';
import type { Arena } from '../arena.js';

/** Every owner's term statistics are what counting their published chunks anew gives. */
export async function checkStatistics(
  arena: Arena,
  redis: Redis,
  records: readonly DocumentRecord[],
): Promise<void> {
  const owners = new Map(arena.callers.map((caller) => [caller, new Map<string, number>()]));
  const binary = redis.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  for (const record of records) {
    const counts = owners.get(countedFor(record) ?? '');
    if (!counts || !record.published) continue;
    for (let number = 0; number < record.published.chunkCount; number += 1) {
      const packed = await binary.hGet(keys.chunk(record.published.generation ?? '', number), 'terms');
      if (!(packed instanceof Buffer)) continue;
      const add = (name: string, by: number) => counts.set(name, (counts.get(name) ?? 0) + by);
      add('chunks', 1);
      add('length', packedLength(packed));
      for (const term of packedTerms(packed)) add(String(term), 1);
    }
  }
  for (const [owner, expected] of owners) {
    const kept = new Map(Object.entries(await redis.hGetAll(keys.statistics(owner))));
    const names = new Set([...kept.keys(), ...expected.keys()]);
    const wrong = [...names].filter((name) => Number(kept.get(name) ?? 0) !== (expected.get(name) ?? 0));
    if (wrong.length === 0) continue;
    const told = ['chunks', 'length'].map(
      (name) => `${name} ${kept.get(name) ?? '0'}, not ${String(expected.get(name) ?? 0)}`,
    );
    arena.history.violate(
      'term statistics are those of the chunks',
      `${owner}: ${told.join('; ')}; ${String(wrong.length)} counts are wrong`,
    );
  }
}
