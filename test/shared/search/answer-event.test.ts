import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Filter } from '../../../src/shared/filters/parse.js';
import type { MatchableDocument } from '../../../src/shared/document.js';
import type { Candidate } from '../../../src/shared/ports.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { expectedDocuments, type AnswerEvent } from '../../../src/shared/search/answer-event.js';
import { createCheckCandidates, takeHits } from '../../../src/shared/search/check-candidates.js';
import { createReadHits } from '../../../src/shared/search/read-hits.js';
import { createUsage, usageEvent } from '../../../src/shared/usage/usage.js';
import { makeContent } from '../../support/documents.js';
import { matchable } from '../../support/matchable.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis } = useTestRedis();
const MEGABYTE = 1024 ** 2;

/** Writes a record and the texts of its chunks as they are in Redis. */
async function write(record: MatchableDocument, texts: readonly string[] = []): Promise<void> {
  await redis.del(keys.document(record.id));
  const fields = Object.entries(record).map(([name, value]): [string, string] => [
    name,
    JSON.stringify(value),
  ]);
  await redis.hSet(keys.document(record.id), Object.fromEntries(fields));
  const { generation } = record.published ?? {};
  for (const [number, text] of texts.entries())
    if (generation != null) await redis.hSet(keys.chunk(generation, number), 'content', text);
}

const served = (id: string, more: Partial<MatchableDocument> = {}): MatchableDocument =>
  matchable(
    { kind: 'letter' },
    { id, readers: ['ann'], published: makeContent({ generation: `${id}.1` }), ...more },
  );

function createEvent(userId: string, maxBytes = MEGABYTE) {
  let state: 'open' | 'sent' | 'appended' = 'open';
  const event: AnswerEvent = {
    maxBytes,
    get isOpen() {
      return state === 'open';
    },
    make: () => {
      state = 'sent';
      const metadata = { query: 'the harbour' };
      return usageEvent({
        operation: 'retrieve_chunks',
        userId,
        startedAtMs: 0,
        status: 'success',
        tokens: 3,
        metadata,
      });
    },
    settle: (isAppended) => {
      state = isAppended ? 'appended' : 'open';
    },
  };
  return { event, state: () => state };
}

interface Asked {
  readonly callerId?: string;
  readonly filter?: Filter | null;
  readonly k?: number;
  readonly maxBytes?: number;
}

const readHits = createReadHits(redis, () => undefined);

async function ask(
  candidates: readonly Candidate[],
  { callerId = 'ann', filter = null, k = 10, maxBytes }: Asked = {},
) {
  const { event, state } = createEvent(callerId, maxBytes);
  const before = await redis.lLen(keys.usagePending(callerId));
  const check = createCheckCandidates(readHits, { callerId, filter });
  const { hits, dropped } = await takeHits(candidates.values(), check, { k, per: 'chunk', event });
  const after = await redis.lLen(keys.usagePending(callerId));
  expect(after - before).toBe(state() === 'appended' ? 1 : 0);
  return { hits: hits.length, dropped: dropped.length, state: state() };
}

const candidate = (id: string, number = 0, generation = `${id}.1`): Candidate => ({
  documentId: id,
  generation,
  number,
  score: 1,
});

test('the event of an answer is appended by the read of its hits, and counted like any other', async () => {
  await write(served('d1'), ['the harbour', 'the lighthouse']);
  await write(served('d2', { readers: [], admins: ['bob', 'ann'] }), ['a heron']);
  const found = [candidate('d1', 1), candidate('d2'), candidate('d1')];
  expect(await ask(found)).toEqual({ hits: 3, dropped: 0, state: 'appended' });
  // Now the records are known.
  expect(await ask(found)).toEqual({ hits: 3, dropped: 0, state: 'appended' });
  const usage = createUsage(redis);
  expect(await usage.stats('ann')).toEqual({ retrieve_chunks: 2 });
  const event = { operation: 'retrieve_chunks', tokens: 3, metadata: { query: 'the harbour' } };
  expect(await usage.recent('ann', { limit: 10 })).toMatchObject([event, event]);
  expect(await redis.sIsMember(keys.usageDirty, 'ann')).toBe(1);
});

test('it is not while anything else may follow or may fail', async () => {
  await write(
    served('e1'),
    Array.from({ length: 120 }, (_, i) => `text ${String(i)}`),
  );
  const all = Array.from({ length: 120 }, (_, number) => candidate('e1', number));
  expect(await ask(all, { k: 120 })).toEqual({ hits: 120, dropped: 0, state: 'open' });
  expect(await ask(all, { k: 100 })).toMatchObject({ hits: 100, state: 'appended' });
  expect(await ask([...all.slice(0, 2), candidate('e1', 500)], { k: 3 })).toMatchObject({
    hits: 2,
    state: 'open',
  });
  // Larger than what is reserved.
  expect(await ask(all, { k: 10, maxBytes: 8_000 })).toMatchObject({ hits: 10, state: 'open' });
  const long = served('e2', { metadata: { note: 'x'.repeat(8_000) } });
  await write(long, ['short']);
  expect(await ask([candidate('e2')], { maxBytes: 100_000 })).toMatchObject({ hits: 1, state: 'open' });
  await write(served('e3'), ['x'.repeat(3 * MEGABYTE), 'short']);
  expect(await ask([candidate('e3'), candidate('e3', 1)], { maxBytes: 9 * MEGABYTE })).toMatchObject({
    hits: 2,
    state: 'open',
  });
});

test('it is not for a document that serves something else, or to others', async () => {
  await write(served('f1'), ['the harbour']);
  const old = [candidate('f1', 0, 'f1.0')];
  await redis.hSet(keys.chunk('f1.0', 0), 'content', 'what it was');
  expect(await ask(old)).toEqual({ hits: 0, dropped: 1, state: 'open' });
  expect(await ask([...old, candidate('f1')])).toEqual({ hits: 1, dropped: 1, state: 'open' });
  expect(await ask([candidate('f1')], { callerId: 'eve' })).toEqual({ hits: 0, dropped: 1, state: 'open' });
  // Known as readable, and changed since.
  expect(await ask([candidate('f1')])).toMatchObject({ state: 'appended' });
  await write(served('f1', { readers: ['anna'] }));
  expect(await ask([candidate('f1')])).toEqual({ hits: 0, dropped: 1, state: 'open' });
  await write(served('f1', { readers: ['bob', 'ann'] }));
  // The record that is known says otherwise.
  expect(await ask([candidate('f1')])).toMatchObject({ hits: 1, state: 'open' });
  expect(await ask([candidate('f1')])).toMatchObject({ hits: 1, state: 'appended' });
  await redis.del(keys.document('f1'));
  expect(await ask([candidate('f1')])).toEqual({ hits: 0, dropped: 1, state: 'open' });
});

test('with a filter it is for records that are known and as they were', async () => {
  const filter: Filter = { type: 'equals', path: 'kind', values: ['letter'] };
  await write(served('g1'), ['the harbour']);
  expect(await ask([candidate('g1')], { filter })).toMatchObject({ hits: 1, state: 'open' });
  expect(await ask([candidate('g1')], { filter })).toMatchObject({ hits: 1, state: 'appended' });
  await write(served('g1', { metadata: { kind: 'poster' } }));
  expect(await ask([candidate('g1')], { filter })).toEqual({ hits: 0, dropped: 1, state: 'open' });
  expect(await ask([candidate('g1')], { filter })).toEqual({ hits: 0, dropped: 1, state: 'open' });
});

test('whatever the names of callers, it is appended only for an answer of which every chunk is a hit', async () => {
  const name = fc.constantFrom('a', 'aa', 'é', ',', '"', '","', 'a"', '\\', 'a\\', '\n', '\ud800', '[');
  const list = fc.array(name, { maxLength: 4 });
  const document = fc.record({
    readers: list,
    writers: list,
    admins: list,
    generation: fc.constantFrom('new', 'new', 'new', 'old', null),
  });
  let appended = 0;
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(document, { minLength: 1, maxLength: 2 }),
      name,
      async (documents, callerId) => {
        run += 1;
        const ids = documents.map((_, i) => `r${String(run)}-${String(i)}`);
        for (const [i, { generation, ...lists }] of documents.entries()) {
          const id = ids[i] ?? '';
          const content = makeContent({ generation: `${id}.new`, filename: `"generation":"${id}.old"` });
          const published = generation === null ? null : { ...content, generation: `${id}.${generation}` };
          await write(matchable({}, { id, ...lists, published }));
          await redis.hSet(keys.chunk(`${id}.new`, 0), 'content', 'text');
        }
        const found = ids.map((id) => candidate(id, 0, `${id}.new`));
        for (let times = 0; times < 2; times += 1) {
          const { hits, state } = await ask(found, { callerId });
          const isWhole = hits === documents.length;
          if (state === 'appended') appended += 1;
          // Seen before, all of them are known; at first, names that could be mistaken are left to the caller.
          const isPlain = !/["\\\n\ud800]/.test(callerId) && callerId !== ',';
          expect(state).toBe(isWhole && (times > 0 || isPlain) ? 'appended' : 'open');
        }
      },
    ),
    { numRuns: 300 },
  );
  expect(appended).toBeGreaterThan(15);
}, 60_000);

test('hits of two generations of one document are no answer that Redis could count with its event', () => {
  const hit = (documentId: string, generation: string) => ({ documentId, generation }) as Candidate;
  expect(expectedDocuments([hit('a', 'a.1'), hit('b', 'b.1'), hit('a', 'a.1')])).toEqual([
    { documentId: 'a', generation: 'a.1', hits: 2 },
    { documentId: 'b', generation: 'b.1', hits: 1 },
  ]);
  expect(expectedDocuments([hit('a', 'a.1'), hit('b', 'b.1'), hit('a', 'a.2')])).toBeNull();
});
