import { afterEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { keys } from '../../../../src/shared/redis/keys.js';
import { createLexicalRanker } from '../../../../src/shared/search/ranking.js';
import type { Index } from '../../../../src/shared/ports.js';
import type { Search } from '../../../../src/shared/search/search.js';
import { parsed } from '../../../contracts/index-data.js';
import { isNamed } from '../../../support/access-oracle.js';
import { startQueryEngine } from '../../../support/query-engine-server.js';
import { describeWithQueryEngine, openQueryEngineIndex } from '../../../support/query-engine.js';
import { startRedisProxy } from '../../../support/redis-proxy.js';
import { expectWords } from '../../../support/search-answers.js';
import { CALLERS, text } from '../../../support/search-arbitraries.js';
import {
  openSearchWorld,
  WORLD_MODEL,
  type SearchWorld,
  type WorldDocument,
} from '../../../support/search-world.js';
import { until } from '../../../support/until.js';

const ranker = createLexicalRanker();
const HNSW = { name: 'hnsw', m: 16, efConstruction: 200 } as const;
const ALL = { query: 'harbour crane ledger', filter: null, k: 1_000, minScore: 0, per: 'chunk' } as const;

const change = fc.record({
  type: fc.constantFrom(
    ...(['revoke', 'revoke', 'revoke', 'grant', 'replace', 'overwrite', 'abandon', 'cancel'] as const),
    ...(['create', 'create', 'remove', 'leave behind', 'retag'] as const),
  ),
  target: fc.nat(1_000),
  caller: fc.constantFrom(...CALLERS),
  texts: fc.array(text, { minLength: 1, maxLength: 3 }),
});
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

const isReadable = (callerId: string, { record }: WorldDocument) => isNamed(callerId, record);

describeWithQueryEngine('changes that searches come between', (engine) => {
  const closing: (() => Promise<void> | void)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  const open = async (algorithm: typeof HNSW | { name: 'flat' } = { name: 'flat' }) => {
    const redis = await startQueryEngine(engine);
    closing.push(() => redis.stop());
    const proxy = await startRedisProxy(redis.port);
    closing.push(() => proxy.close());
    const world = await openSearchWorld(redis.url);
    closing.push(() => {
      world.close();
    });
    const { model, dimensions } = WORLD_MODEL;
    const index = await openQueryEngineIndex(proxy.url, {
      model,
      algorithm,
      dimensions: () => Promise.resolve(dimensions),
    });
    closing.push(() => index.close());
    await until(async () => (await index.state()) === 'ready');
    return { proxy, world, index, search: world.createSearch(index, ranker) };
  };

  /** Compares the documents that one caller finds with the documents that are readable now, as far as its tags say so. */
  const compare = async (
    { world, search, index }: { world: SearchWorld; search: Search; index: Index },
    callerId: string,
    query: string,
  ) => {
    const waiting = new Set(world.untagged);
    const isWanted = (document: WorldDocument) => isReadable(callerId, document);
    const isReadableOrWaiting = (document: WorldDocument) =>
      isWanted(document) || waiting.has(document.record.id);
    // Only the index can tell whether the tags that these wait for let the caller find them.
    const found = await index.words.search({ ...ALL, principal: { id: callerId }, query, limit: 1_000 });
    const late = new Set(found.map(({ generation, number }) => `${generation}:${String(number)}`));
    const all = await world.scores(query, { ranker, callerId, isWanted: isReadableOrWaiting });
    const indexed = all.filter(({ documentId, number }) => {
      const generation = world.documents.get(documentId)?.record.published?.generation ?? '';
      return !waiting.has(documentId) || late.has(`${generation}:${String(number)}`);
    });
    const readable = new Set([...world.documents.values()].filter(isWanted).map(({ record }) => record.id));
    for (const k of [3, 1_000]) {
      const request = { ...ALL, principal: { id: callerId }, query, k };
      expectWords(await search(request), indexed, request, ({ documentId }) => readable.has(documentId));
    }
  };

  const apply = async (
    world: SearchWorld,
    { type, target, caller, texts }: Change,
    onBegin: (id: string) => void = () => undefined,
  ) => {
    const ids = [...world.documents.keys()];
    const id = ids[target % Math.max(1, ids.length)];
    if (type === 'create' || id === undefined || ids.length < 5) {
      const made = await world.create({ readers: [caller], writers: [], admins: [] });
      onBegin(made);
      return world.publish(made, texts);
    }
    onBegin(id);
    const readers = world.documents.get(id)?.record.readers ?? [];
    switch (type) {
      case 'revoke':
        return world.patch(id, { readers: readers.filter((each) => each !== caller) }, target % 2 === 0);
      case 'grant':
        return world.patch(id, { readers: [...new Set([...readers, caller])] }, target % 2 === 0);
      case 'replace':
      case 'overwrite':
        return world.replace(id, texts, type === 'replace');
      case 'abandon':
      case 'cancel':
        return world.abandon(id, texts, type === 'cancel');
      case 'remove':
      case 'leave behind':
        return world.remove(id, type === 'remove');
      case 'retag':
        return world.retag(id);
    }
  };

  test.each([{ name: 'flat' as const }, HNSW])(
    'nothing wrong is found after any of 600 of them: $name',
    async (algorithm) => {
      const opened = await open(algorithm);
      const { world } = opened;
      const changes = fc.sample(change, 600);
      for (const [i, each] of changes.entries()) {
        await apply(world, each);
        const others = [each.caller, CALLERS[i % CALLERS.length] ?? 'owner'];
        for (const caller of new Set(others)) await compare(opened, caller, each.texts[0] ?? '');
      }
    },
  );

  test('what does not change while a search runs is in its answer, and what may not be is never', async () => {
    const { world, search } = await open();
    for (let i = 0; i < 10; i += 1) {
      const id = await world.create({ readers: CALLERS });
      await world.publish(id, ['harbour crane', 'ledger']);
    }
    /** The number of changes that were begun of each document. */
    const begun = new Map<string, number>();
    let changing = '';
    const done = new AbortController();
    let searches = 0;
    const searching = async (callerId: string) => {
      while (!done.signal.aborted) {
        const before = new Map(world.documents);
        const changes = new Map(begun);
        const inMotion = changing;
        const hits = await search({ ...ALL, principal: { id: callerId } });
        searches += 1;
        for (const [id, document] of before) {
          if (id === inMotion || changes.get(id) !== begun.get(id) || world.untagged.includes(id)) continue;
          const found = hits.filter(({ record }) => record.id === id).map(({ number }) => number);
          const expected = isReadable(callerId, document) ? document.texts.map((_, number) => number) : [];
          expect([id, found.sort()]).toEqual([id, expected]);
        }
      }
    };
    const applying = async () => {
      for (const each of fc.sample(change, 150)) {
        await apply(world, each, (id) => {
          begun.set(id, (begun.get(id) ?? 0) + 1);
          changing = id;
        });
        changing = '';
      }
    };
    await Promise.all([
      applying().finally(() => {
        done.abort();
      }),
      ...CALLERS.map(searching),
    ]);
    expect(searches).toBeGreaterThan(50);
  });

  test('lists and counts have every document, however often they change meanwhile', async () => {
    const { world, index } = await open();
    const ids = await Promise.all(Array.from({ length: 600 }, () => world.create({ metadata: { n: 0 } })));
    const done = new AbortController();
    const changing = async () => {
      for (let n = 1; n <= 1_500; n += 1)
        await world.patch(ids[n % ids.length] ?? '', { metadata: { n } }, false);
    };
    let answers = 0;
    const asking = async (json: Record<string, unknown>) => {
      const asked = { principal: { id: 'owner' }, filter: parsed(json) };
      while (!done.signal.aborted) {
        const [listed, count] = [
          (await index.list({ ...asked, skip: 0, limit: 1_000 })).ids,
          await index.count(asked),
        ];
        expect([new Set(listed).size, listed.length, count]).toEqual([600, 600, 600]);
        answers += 1;
      }
    };
    const working = changing().finally(() => {
      done.abort();
    });
    await Promise.all([working, asking({ n: { $exists: true } }), asking({ n: { $gte: 0 } })]);
    expect(answers).toBeGreaterThan(10);
  });

  test('a publish between the look at what is hidden and the search loses neither content', async () => {
    const { proxy, world, search } = await open();
    const id = await world.create();
    await world.publish(id, ['harbour crane']);
    await world.abandon(id, ['harbour ledger'], false);
    const held = proxy.hold('FT.SEARCH');
    const searching = search({ ...ALL, principal: { id: 'owner' } });
    await held.held;
    await world.publish(id, ['harbour ledger']);
    held.release();
    expect((await searching).map(({ content }) => content)).toEqual(['harbour ledger']);
  });

  test('answers are right with more than a thousand generations that are hidden at the same time', async () => {
    const opened = await open();
    const { world } = opened;
    const texts = ['harbour crane', 'ledger of the harbour'];
    for (let i = 0; i < 60; i += 1) {
      const id = await world.create({ readers: [i % 2 === 0 ? 'owner' : 'alice'], writers: [], admins: [] });
      await world.publish(id, texts);
      if (i % 3 === 0) await world.abandon(id, ['harbour harbour harbour'], i % 2 === 0);
      if (i % 4 === 0) await world.replace(id, ['harbour anew'], false);
    }
    for (const more of [0, 900, 600]) {
      const others = Array.from({ length: more }, (_, i) => `${crypto.randomUUID()}.1.${String(i)}`);
      if (more > 0) await world.redis.sAdd(keys.hidden, others);
      for (const caller of CALLERS) await compare(opened, caller, 'harbour');
    }
    expect(await world.redis.sCard(keys.hidden)).toBeGreaterThan(1_500);
  });
});
