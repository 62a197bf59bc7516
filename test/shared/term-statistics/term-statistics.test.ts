import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createRecords, type Records } from '../../../src/shared/documents/records.js';
import { patch } from '../../../src/shared/documents/transitions.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { TERMS_AT_ONCE } from '../../../src/shared/term-statistics/count-steps.js';
import {
  createTermStatistics,
  type TermStatisticsStore,
} from '../../../src/shared/term-statistics/term-statistics.js';
import { analyzeText } from '../../../src/shared/text/list-terms.js';
import { packTerms, packedLength, packedTerms } from '../../../src/index/scoring/packed-terms.js';
import { updateTermCounts } from '../../../src/workers/ingestion/update-term-counts.js';
import { makeDocument } from '../../support/documents.js';
import { dying, ProcessDied } from '../../support/dying.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis } = useTestRedis({ failFast: false });
let records: Records;
let statistics: TermStatisticsStore;

beforeAll(() => {
  records = createRecords(redis);
  statistics = createTermStatistics(redis);
});
beforeEach(async () => {
  await redis.flushAll();
});
const pack = (text: string) => packTerms(analyzeText(text));
const termOf = (word: string) => [...analyzeText(word).counts.keys()][0] ?? 0;

/** A batch whose chunks have these terms, in an open generation. */
async function open(generation: string, terms: readonly Uint8Array[], batch = 0) {
  await redis.hSet(keys.generation(generation), 'document', 'd');
  const chunks = terms.map((packed, i) => ({ number: 64 * batch + i, terms: packed }));
  for (const { number, terms: packed } of chunks)
    await redis.hSet(keys.chunk(generation, number), 'terms', Buffer.from(packed));
  return { generation, batch, chunks };
}

/** By a record at this revision. */
async function wanted(owner: string | null, revision = 1) {
  await redis.hSet(keys.document('d'), 'revision', String(revision));
  return { documentId: 'd', revision, owner };
}

/** The statistics of these chunks alone. */
function recount(terms: readonly Uint8Array[]): Record<string, string> {
  const counts = new Map<string, number>();
  const add = (field: string, by: number) => counts.set(field, (counts.get(field) ?? 0) + by);
  for (const packed of terms) {
    add('chunks', 1);
    add('length', packedLength(packed));
    for (const term of packedTerms(packed)) add(String(term), 1);
  }
  return Object.fromEntries(Array.from(counts, ([field, count]) => [field, String(count)]));
}

let seed = 1;
const below = (limit: number) => (seed = (seed * 48_271) % 2_147_483_647) % limit;
/** Chunks that have enough different terms together to be counted in several parts. */
const manyTerms = (chunks = 5, each = 1_500, vocabulary = 6_500) =>
  Array.from({ length: chunks }, () =>
    packTerms({ length: each, counts: new Map(Array.from({ length: each }, () => [below(vocabulary), 1])) }),
  );

describe('term statistics', () => {
  test('counting a batch twice counts it once, forgetting it twice forgets it once', async () => {
    const batch = await open('g1', [pack('apple banana apple'), pack('banana')]);
    expect(await statistics.settle(batch, await wanted('ann'))).toBe('settled');
    expect(await statistics.settle(batch, await wanted('ann'))).toBe('settled');
    const [apple, banana] = [termOf('apple'), termOf('banana')];
    const counted = await statistics.read('ann', [apple, banana, 7]);
    expect(counted).toMatchObject({ chunks: 2, totalLength: 4 });
    expect([...counted.frequencies.values()]).toEqual([1, 2, 0]);
    expect(await statistics.states('g1', 2)).toEqual([{ kind: 'counted', owner: 'ann' }, { kind: 'none' }]);
    await statistics.settle(batch, await wanted(null));
    await statistics.settle(batch, await wanted(null));
    expect(await redis.hGetAll(keys.statistics('ann'))).toEqual({ chunks: '0', length: '0' });
  });

  test('a discarded generation, one that was never opened, and chunks without terms are not counted', async () => {
    const batch = await open('g2', [pack('cherry')]);
    const second = { ...batch, batch: 1 };
    await statistics.settle(batch, await wanted('bob'));
    await redis.hDel(keys.chunk('g2', 0), 'terms');
    expect(await statistics.settle(second, await wanted('bob'))).toBe('refused');
    await redis.hSet(keys.generation('g2'), 'discarded', '1');
    await redis.hSet(keys.chunk('g2', 0), 'terms', Buffer.from(pack('cherry')));
    expect(await statistics.settle(second, await wanted('bob'))).toBe('refused');
    expect(await statistics.settle({ ...batch, generation: 'never' }, await wanted('bob'))).toBe('refused');
    expect(await statistics.read('bob', [])).toMatchObject({ chunks: 1 });
  });

  test('what was read of a record that has changed begins nothing', async () => {
    const batch = await open('g3', [pack('cherry')]);
    const old = await wanted('bob', 4);
    await wanted(null, 5);
    expect(await statistics.settle(batch, old)).toBe('overtaken');
    await statistics.settle(batch, await wanted('bob', 6));
    expect(await statistics.settle(batch, { ...old, owner: null })).toBe('overtaken');
    expect(await statistics.read('bob', [])).toMatchObject({ chunks: 1 });
  });

  test('many terms are counted and forgotten in parts, of which none holds too many', async () => {
    const terms = manyTerms();
    const batch = await open('g4', terms);
    const sizes: number[] = [];
    const watched = createTermStatistics(
      dying(redis, ({ arguments: given }) => {
        sizes.push(given.length);
        return false;
      }),
    );
    await watched.settle(batch, await wanted('mia'));
    expect(await redis.hGetAll(keys.statistics('mia'))).toEqual(recount(terms));
    await redis.sAdd(keys.garbage, 'g4');
    expect(await watched.forget(batch)).toBe(true);
    expect(await redis.hGetAll(keys.statistics('mia'))).toEqual({ chunks: '0', length: '0' });
    expect(sizes.length).toBe(6);
    // Beside the terms a few counts of groups, and what the part is about.
    expect(Math.max(...sizes)).toBeLessThan(TERMS_AT_ONCE + 50);
  });

  test('while a batch is counted in part, no term is in more chunks than there are', async () => {
    const terms = manyTerms();
    const batch = await open('g5', terms);
    const looks: boolean[] = [];
    const look = async () => {
      const { chunks = '0', length: _, ...counts } = await redis.hGetAll(keys.statistics('mia'));
      looks.push(Object.values(counts).every((count) => Number(count) <= Number(chunks)));
    };
    const watched = createTermStatistics(dying(redis, () => look().then(() => false)));
    await watched.settle(batch, await wanted('mia'));
    await watched.settle(batch, await wanted(null));
    expect(looks).toEqual(Array.from({ length: 6 }, () => true));
  });

  test('processes that die in the middle, twins and changes of access neither lose nor double a count', async () => {
    const documents = await Promise.all(
      [0, 1, 2].map(async (n) => {
        const terms = manyTerms(4 + n);
        const document = makeDocument({
          ownerId: 'mia',
          readers: ['mia'],
          admins: ['eve'],
          writers: ['eve'],
        });
        await records.create(document);
        const batch = await open(`${document.id}.g`, terms, n);
        return { id: document.id, terms, batch: { ...batch, documentId: document.id } };
      }),
    );
    const parts = (chance: number) => {
      const mortal = dying(redis, () => Promise.resolve(below(100) < chance));
      return { records, statistics: createTermStatistics(mortal) };
    };
    const settle = async (chance: number, { batch }: (typeof documents)[number]) => {
      try {
        await updateTermCounts(parts(chance), batch, () => Promise.resolve(batch.chunks));
      } catch (error) {
        if (!(error instanceof ProcessDied)) throw error;
      }
    };
    for (let round = 0; round < 60; round += 1) {
      const one = documents[below(3)];
      if (!one) throw new Error('no document');
      const readers = below(2) === 0 ? ['mia'] : ['eve'];
      const others = Array.from({ length: 1 + below(3) }, () => settle(40, one));
      const change = async () => records.update(one.id, (record) => patch(record, { readers }));
      await Promise.all([...others, change(), settle(40, one), redis.scriptFlush()]);
    }
    // The process that changed access last has a job that is done until it succeeds.
    for (const one of documents) await settle(0, one);
    const readable = await Promise.all(
      documents.map(async ({ id, terms }) =>
        (await records.read(id))?.readers.includes('mia') === true ? terms : [],
      ),
    );
    const { chunks = '0', length = '0', ...counts } = await redis.hGetAll(keys.statistics('mia'));
    expect({ chunks, length, ...counts }).toEqual({ chunks: '0', length: '0', ...recount(readable.flat()) });
  });
});
