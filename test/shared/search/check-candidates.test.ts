import { describe, expect, test } from '@jest/globals';
import { createGuard } from '../../../src/shared/access/sharing.js';
import { NOWHERE } from '../../../src/shared/chunks/fields.js';
import type { MatchableDocument } from '../../../src/shared/document.js';
import type { Candidate } from '../../../src/shared/ports.js';
import { createCheckCandidates, takeHits, type CheckCandidates } from '../../../src/shared/search/search.js';
import { createConfirmation, type ReadHits } from '../../../src/shared/search/read-hits.js';
import { matchable } from '../../support/matchable.js';

const candidate = (documentId: string, number = 0, generation = `of ${documentId}`): Candidate => {
  return { documentId, generation, number, score: 0.5 };
};
const serving = (
  id: string,
  changes: Partial<MatchableDocument> = {},
  generation: string | null = `of ${id}`,
) => {
  const { published } = matchable({});
  return matchable({}, { id, published: published && { ...published, generation }, ...changes });
};
const found = (text: string) => ({ ...NOWHERE, text, section: ['A'] });

/** Reads these records, and of each candidate a text unless it is missing. */
const reading =
  (records: readonly MatchableDocument[], missing: readonly number[] = []): ReadHits =>
  (chunks, ids, keep) => {
    const byId = new Map(records.map((record) => [record.id, record]));
    return Promise.resolve({
      contents: chunks.map((_, i) => (missing.includes(i) ? null : found(`text ${String(i)}`))),
      records: ids.map((id) => {
        const record = byId.get(id);
        return record ? keep(record) : null;
      }),
    });
  };
const checking = (readHits: ReadHits) =>
  createCheckCandidates(readHits, { principal: { id: 'alice' }, filter: null });

describe('a candidate', () => {
  test('is a hit where its document serves it and the caller may read that, without the lists of who may', async () => {
    const record = serving('a', { metadata: { k: 1 } });
    const [hit] = await checking(reading([record]))([candidate('a', 3)]);
    const { id, ownerId, createdAt, metadata, published, pending } = record;
    expect(hit).toEqual({
      record: { id, ownerId, createdAt, metadata, published, pending },
      number: 3,
      content: 'text 0',
      location: null,
      section: ['A'],
      spots: '',
      score: 0.5,
    });
  });

  test('is dropped otherwise, with what serves its document where the caller may have that', async () => {
    const others = { readers: ['bob'], writers: ['bob'], admins: ['bob'] };
    const check = checking(
      reading(
        [
          serving('secret', others),
          serving('newer', {}, 'newer generation'),
          serving('lost'),
          serving('none', { published: null }),
        ],
        [3],
      ),
    );
    expect(
      await check([
        candidate('secret'),
        candidate('gone'),
        candidate('newer'),
        candidate('lost'),
        candidate('none'),
      ]),
    ).toEqual([
      { servedBy: null },
      { servedBy: null },
      { servedBy: 'newer generation' },
      { servedBy: 'of lost' },
      { servedBy: null },
    ]);
  });

  test('is dropped where the filter of the search does not let its document pass', async () => {
    const filter = { type: 'exists', path: 'k' } as const;
    const check = createCheckCandidates(reading([serving('a', { metadata: { k: 1 } }), serving('b')]), {
      principal: { id: 'alice' },
      filter,
    });
    const [one, other] = await check([candidate('a'), candidate('b')]);
    expect(one).toHaveProperty('record');
    expect(other).toEqual({ servedBy: null });
  });

  test('has its document read once, however many candidates it has', async () => {
    const asked: (readonly string[])[] = [];
    const check = checking((chunks, ids, keep, options) => {
      asked.push(ids);
      return reading([serving('a'), serving('b')])(chunks, ids, keep, options);
    });
    expect(await check([candidate('a'), candidate('b'), candidate('a', 1)])).toHaveLength(3);
    expect(asked).toEqual([['a', 'b']]);
  });

  test('is read as it was found: by which state of the data, and by which lists of its caller', async () => {
    const confirmation = createConfirmation();
    const guard = createGuard('alice', '1');
    const given: unknown[] = [];
    const readHits: ReadHits = (chunks, ids, keep, options) => {
      given.push(options);
      return reading([serving('a')])(chunks, ids, keep, options);
    };
    const check = createCheckCandidates(readHits, {
      principal: { id: 'alice' },
      filter: null,
      guard,
      confirmation,
    });
    await check([candidate('a')]);
    expect(given).toMatchObject([{ confirmation, guard, callerId: 'alice' }]);
  });
});

describe('a page of hits', () => {
  /**
   * Takes hits of candidates, where document `x` has none. Returns the hits, and the numbers of candidates that were
   * checked at a time.
   */
  async function take(
    candidates: readonly Candidate[],
    { k, per = 'chunk' }: { k: number; per?: 'chunk' | 'document' },
  ) {
    const checked: number[] = [];
    const told: number[] = [];
    const check: CheckCandidates = (batch) => {
      checked.push(batch.length);
      return Promise.resolve(
        batch.map(({ documentId, number, score }) =>
          documentId === 'x'
            ? { servedBy: 'newer' }
            : { record: serving(documentId), number, content: '', ...NOWHERE, score },
        ),
      );
    };
    const page = await takeHits(candidates.values(), check, {
      k,
      per,
      onHits: (hits) => told.push(hits.length),
    });
    return {
      hits: page.hits.map(({ record, number }) => [record.id, number]),
      dropped: page.dropped,
      checked,
      told,
    };
  }
  const many = (count: number) => Array.from({ length: count }, (_, n) => candidate(`d${String(n)}`, n));

  test('takes as many as are wanted, in their order, and the next ones for those that are none', async () => {
    const { hits, dropped, checked, told } = await take(
      [candidate('a'), candidate('x'), candidate('b'), candidate('c')],
      { k: 2 },
    );
    expect(hits).toEqual([
      ['a', 0],
      ['b', 0],
    ]);
    expect(dropped).toEqual([{ servedBy: 'newer' }]);
    expect(checked).toEqual([2, 1]);
    expect(told).toEqual([1, 2]);
  });

  test('is checked a hundred at a time', async () => {
    expect((await take(many(300), { k: 250 })).checked).toEqual([100, 100, 50]);
    expect((await take(many(100), { k: 100 })).checked).toEqual([100]);
  });

  test('ends where there are no more candidates', async () => {
    expect(await take(many(2), { k: 5 })).toMatchObject({ checked: [2], dropped: [] });
    expect((await take(many(2), { k: 5, per: 'document' })).checked).toEqual([2]);
    expect((await take([], { k: 5 })).checked).toEqual([]);
    expect((await take(many(2), { k: 0 })).checked).toEqual([]);
  });

  test('of documents has the first chunk of each, where a generation that is stale takes no place of the one that serves', async () => {
    const candidates = [
      candidate('a', 1),
      candidate('a', 2),
      candidate('b', 0),
      candidate('b', 1, 'newer'),
      candidate('c'),
    ];
    const { hits } = await take(candidates, { k: 4, per: 'document' });
    expect(hits).toEqual([
      ['a', 1],
      ['b', 0],
      ['b', 1],
      ['c', 0],
    ]);
    expect((await take(candidates, { k: 9 })).hits).toHaveLength(5);
  });
});
