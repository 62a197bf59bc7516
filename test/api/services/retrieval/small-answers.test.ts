import { expect, test } from '@jest/globals';
import { NOWHERE } from '../../../../src/shared/chunks/fields.js';
import { AbandonedError } from '../../../../src/api/services/abandoned-error.js';
import { createAnswerMemory } from '../../../../src/api/services/answer-memory/answer-memory.js';
import { createRetrieval, type RetrievalRequest } from '../../../../src/api/services/retrieval/retrieval.js';
import { createUsageAccounting } from '../../../../src/api/services/usage-accounting.js';
import type { UsageEvent } from '../../../../src/shared/usage/usage.js';
import type { Metadata } from '../../../../src/shared/document.js';
import { makeContent, makeDocument } from '../../../support/documents.js';
import { everythingShared, noCollections } from '../../../support/everything-shared.js';
import { noDetails } from '../../../support/no-details.js';

interface World {
  readonly texts: readonly string[];
  readonly metadata?: Metadata;
  /** Called when the hits are there. */
  readonly onFound?: () => void;
  readonly refuses?: boolean;
}

function setUp({ texts, metadata = {}, onFound, refuses = false }: World) {
  const memory = createAnswerMemory({ limitBytes: 64 * 1024 ** 2 });
  const events: UsageEvent[] = [];
  const record = makeDocument({ metadata, published: makeContent(), pending: null });
  const append = (event: UsageEvent) => {
    if (refuses) throw new Error('redis is away');
    events.push(event);
  };
  const retrieval = createRetrieval({
    collections: noCollections,
    memory,
    newestHits: () => Promise.resolve([]),
    rerankedSearch: null,
    details: noDetails,
    sharedViews: everythingShared,
    search: ({ onHits }) => {
      const hits = texts.map((content, number) => ({ record, number, content, score: 1, ...NOWHERE }));
      onHits?.(hits);
      onFound?.();
      return Promise.resolve(hits);
    },
    accounting: createUsageAccounting({ append }),
    records: {} as never,
    texts: {} as never,
    countTokens: () => 3,
    downloadUrl: () => null,
  });
  const controller = new AbortController();
  const request: RetrievalRequest = {
    principal: { id: 'ann' },
    baseUrl: '',
    startedAtMs: Date.now(),
    signal: controller.signal,
    query: 'heron',
    filter: null,
    k: 10,
    minScore: 0,
    ranking: undefined,
    rerank: null,
  };
  return { memory, events, controller, find: () => retrieval.chunks(request) };
}

test('few chunks are there at once, counted, and hold no memory any more', async () => {
  const { memory, events, find } = setUp({ texts: ['a heron', 'another'] });
  const found = await find();
  expect(found.type).toBe('whole');
  expect(found.items).toMatchObject([{ content: 'a heron' }, { content: 'another' }]);
  expect(events).toMatchObject([{ operation: 'retrieve_chunks', status: 'success', tokens: 3 }]);
  expect(memory.figures()).toEqual({ held: 0, waiting: 0 });
});

test('long texts, and long metadata that each chunk repeats, come one by one and are counted at their end', async () => {
  const long = { texts: ['x'.repeat(70_000)] };
  const repeated = {
    texts: Array.from({ length: 10 }, () => 'short'),
    metadata: { note: 'x'.repeat(10_000) },
  };
  for (const world of [long, repeated]) {
    const { memory, events, find } = setUp(world);
    const found = await find();
    if (found.type !== 'stream') throw new Error('it was taken for small');
    expect(memory.figures().held).toBeGreaterThan(0);
    expect(events).toEqual([]);
    let count = 0;
    for await (const each of found.items) count += each.content.length > 0 ? 1 : 0;
    expect(count).toBe(world.texts.length);
    expect(events).toMatchObject([{ status: 'success' }]);
    expect(memory.figures()).toEqual({ held: 0, waiting: 0 });
  }
});

test('a client that has left by then makes it an error, once', async () => {
  const world = setUp({
    texts: ['a heron'],
    onFound: () => {
      world.controller.abort(new AbandonedError('client_closed'));
    },
  });
  await expect(world.find()).rejects.toThrow(AbandonedError);
  expect(world.events).toMatchObject([{ status: 'error', tokens: 0, metadata: { error: 'client_closed' } }]);
  expect(world.memory.figures()).toEqual({ held: 0, waiting: 0 });
});

test('what cannot be counted is not answered, and holds no memory', async () => {
  const { memory, find } = setUp({ texts: ['a heron'], refuses: true });
  await expect(find()).rejects.toThrow('redis is away');
  expect(memory.figures()).toEqual({ held: 0, waiting: 0 });
});
