import { expect, test } from '@jest/globals';
import { NOWHERE } from '../../../../src/shared/chunks/fields.js';
import { AbandonedError } from '../../../../src/api/services/abandoned-error.js';
import { createAnswerMemory } from '../../../../src/api/services/answer-memory/answer-memory.js';
import { createCompletions } from '../../../../src/api/services/retrieval/completions.js';
import { createRetrieval } from '../../../../src/api/services/retrieval/retrieval.js';
import { createUsageAccounting } from '../../../../src/api/services/usage-accounting.js';
import { createBuiltinCompleter } from '../../../../src/shared/adapters/builtin/completer.js';
import { createReranking } from '../../../../src/shared/models/reranking.js';
import type { Reranker } from '../../../../src/shared/ports.js';
import type { MatchableDocument } from '../../../../src/shared/document.js';
import type { ReadHits } from '../../../../src/shared/search/read-hits.js';
import { createRerankedSearch } from '../../../../src/shared/search/reranked-search.js';
import type { Search } from '../../../../src/shared/search/search.js';
import type { UsageEvent } from '../../../../src/shared/usage/usage.js';
import { makeContent, makeDocument } from '../../../support/documents.js';
import { rejection } from '../../../support/rejection.js';
import { until } from '../../../support/until.js';
import { everythingShared, noCollections } from '../../../support/everything-shared.js';
import { noDetails } from '../../../support/no-details.js';

const MEGABYTE = 1024 ** 2;
const CANDIDATES = 20;

/** A document of as many chunks of this length as a search asks for. The provider answers when it is told to. */
function setUp({ length = 100, limitBytes = 64 * MEGABYTE, isHeld = false } = {}) {
  const memory = createAnswerMemory({ limitBytes, waitMilliseconds: 100 });
  const events: UsageEvent[] = [];
  const record = makeDocument({
    readers: ['ann'],
    published: makeContent({ generation: 'one' }),
    pending: null,
  });
  const content = (number: number) => String(number % 10).repeat(length);
  const search: Search = ({ k, onHits }) => {
    const hits = Array.from({ length: k }, (_, number) => ({
      record,
      number,
      content: content(number),
      ...NOWHERE,
      score: 0.5,
    }));
    onHits?.(hits);
    return Promise.resolve(hits);
  };
  // @NOTE what is read of a hit is its text and its one record
  const readHits = ((
    chunks: readonly { number: number }[],
    _ids: unknown,
    keep: (of: MatchableDocument) => unknown,
  ) =>
    Promise.resolve({
      contents: chunks.map(({ number }) => ({ text: content(number), ...NOWHERE })),
      records: [keep(record)],
    })) as ReadHits;
  const provider = { asked: 0, sizes: [] as number[], held: 0, answer: (): void => undefined };
  const reranker: Reranker = {
    model: 'fake',
    limits: { documents: 1_000 },
    rerank: async (_, documents, { signal } = {}) => {
      provider.asked += 1;
      provider.sizes.push(documents.length);
      provider.held = memory.figures().held;
      if (isHeld)
        await new Promise<void>((resolve, reject) => {
          provider.answer = resolve;
          signal?.addEventListener('abort', () => reject(new Error('left')), { once: true });
        });
      return { scores: documents.map((_text, i) => 1 / (i + 1)), tokens: 7 };
    },
  };
  const reranking = createReranking(reranker, {
    candidates: CANDIDATES,
    deadlineMilliseconds: 60_000,
    onOutcome: () => undefined,
    onFailure: () => undefined,
  });
  const parts = {
    memory,
    search,
    newestHits: () => Promise.resolve([]),
    rerankedSearch: createRerankedSearch({ search, reranking, readHits }),
    details: noDetails,
    collections: noCollections,
    sharedViews: everythingShared,
    accounting: createUsageAccounting({ append: (event) => void events.push(event) }),
    countTokens: () => 3,
  };
  const controller = new AbortController();
  const request = {
    principal: { id: 'ann' },
    baseUrl: '',
    startedAtMs: Date.now(),
    signal: controller.signal,
    query: 'which',
    filter: null,
    k: 4,
    minScore: 0,
    ranking: undefined,
    rerank: { topN: null },
  };
  const retrieval = createRetrieval({
    ...parts,
    records: {} as never,
    texts: {} as never,
    downloadUrl: () => null,
  });
  const completer = createBuiltinCompleter({ contextWindow: 4_096 });
  const completions = createCompletions({ ...parts, completer, defaultMaxTokens: 100, findMore: undefined });
  return { memory, events, provider, controller, request, retrieval, completions };
}

const RERANKED = { status: 'success', metadata: { reranked: true, rerank_tokens: 7 } };

test('the texts of all candidates count in the memory of answers, and once more for the request to the provider', async () => {
  const { retrieval, memory, provider, request, events } = setUp({ length: 50_000 });
  const found = await retrieval.chunks(request);
  if (found.type !== 'stream') throw new Error('it was taken for small');
  expect(provider.sizes).toEqual([CANDIDATES]);
  expect(provider.held).toBeGreaterThan(2 * CANDIDATES * 50_000);
  const held = [];
  for await (const each of found.items) {
    expect(each.content).toHaveLength(50_000);
    held.push(memory.figures().held);
  }
  // The others are not held any more.
  expect(held).toHaveLength(4);
  expect(Math.max(...held)).toBeLessThan(5 * 2 * 50_000);
  expect(events).toMatchObject([{ ...RERANKED, tokens: 10 }]);
  expect(memory.figures()).toEqual({ held: 0, waiting: 0 });
});

test('where they do not fit beside others, the search is to be tried later, and nothing is sent', async () => {
  const { retrieval, provider, request, memory } = setUp({
    length: 200_000,
    isHeld: true,
    limitBytes: 32 * MEGABYTE,
  });
  const first = retrieval.chunks(request);
  await until(() => provider.asked === 1);
  expect(await rejection(retrieval.chunks(request))).toMatchObject({ name: 'UnavailableError' });
  expect(provider.asked).toBe(1);
  provider.answer();
  const found = await first;
  if (found.type !== 'stream') throw new Error('it was taken for small');
  for await (const each of found.items) expect(each.content).toHaveLength(200_000);
  expect(memory.figures()).toEqual({ held: 0, waiting: 0 });
});

test('few chunks come at once, counted once with what reranking took', async () => {
  const { retrieval, request, events, memory } = setUp();
  const found = await retrieval.chunks(request);
  expect(found).toMatchObject({ type: 'whole', rerank: { outcome: 'applied', tokens: 7 } });
  expect(events).toMatchObject([{ ...RERANKED, tokens: 10 }]);
  expect(memory.figures()).toEqual({ held: 0, waiting: 0 });
});

test('a client that leaves while the provider answers makes it an error, and holds no memory', async () => {
  const ways = [
    ({ retrieval, request }: ReturnType<typeof setUp>) => retrieval.chunks(request),
    ({ retrieval, request }: ReturnType<typeof setUp>) => retrieval.documents(request),
    ({ completions, request }: ReturnType<typeof setUp>) => completions.complete(request),
    ({ completions, request }: ReturnType<typeof setUp>) => completions.stream(request),
  ];
  for (const way of ways) {
    const world = setUp({ isHeld: true });
    const asked = rejection(way(world));
    await until(() => world.provider.asked === 1);
    world.controller.abort(new AbandonedError('client_closed'));
    expect(await asked).toBeInstanceOf(AbandonedError);
    expect(world.events).toMatchObject([
      { status: 'error', tokens: 0, metadata: { error: 'client_closed' } },
    ]);
    expect(world.memory.figures()).toEqual({ held: 0, waiting: 0 });
  }
});

test('a stream of a query is counted once, whether it is read to its end or not at all', async () => {
  const read = setUp();
  const { events, rerank } = await read.completions.stream(read.request);
  expect(rerank).toEqual({ outcome: 'applied', tokens: 7 });
  expect(read.memory.figures().held).toBeGreaterThan(0);
  let tokens = 0;
  for await (const event of events)
    if (event.type === 'end') tokens = event.promptTokens + event.completionTokens;
  expect(tokens).toBeGreaterThan(0);
  expect(read.events).toMatchObject([{ ...RERANKED, tokens: tokens + 7 }]);
  expect(read.memory.figures()).toEqual({ held: 0, waiting: 0 });

  const left = setUp();
  const stream = await left.completions.stream(left.request);
  await stream.events[Symbol.asyncIterator]().return?.();
  expect(left.events).toMatchObject([{ status: 'error', metadata: { reranked: true } }]);
  expect(left.memory.figures()).toEqual({ held: 0, waiting: 0 });
});
