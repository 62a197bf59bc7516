import { describe, expect, test } from '@jest/globals';
import type { Client, WireChunk } from '../support/client.js';
import { describeWithQueryEngine } from '../support/query-engine.js';
import { EMBEDDING, EVERYDAY, LIMITED } from '../support/shared/environments.js';
import { useFakeOpenAI } from '../support/shared/use-fake-openai.js';
import { useService } from '../support/shared/use-service.js';

const RANKINGS = ['semantic', 'lexical', 'hybrid'] as const;
const WEIGHT = Number(EVERYDAY.QUIRE_SEARCH_HYBRID_WEIGHT);

async function chunksOf(client: Client, query: string, more: Record<string, unknown> = {}) {
  const { status, body } = await client.searchChunks(query, more);
  expect(status).toBe(200);
  return body;
}

async function ingestAll(client: Client, texts: readonly string[]): Promise<void> {
  for (const text of texts) expect((await client.ingestText(text)).status).toBe(200);
}

const keyOf = ({ document_id: id, chunk_number: number }: Pick<WireChunk, 'document_id' | 'chunk_number'>) =>
  `${id}-${String(number)}`;
const scoresByChunk = (found: readonly WireChunk[]) =>
  new Map(found.map((each) => [keyOf(each), each.score]));
const contentsOf = (found: readonly WireChunk[]) => found.map(({ content }) => content);

/** Best first, ties by document, then chunk number. */
function expectOrdered(found: readonly WireChunk[]): void {
  const sorted = [...found].sort(
    (a, b) =>
      b.score - a.score ||
      (a.document_id < b.document_id ? -1 : a.document_id > b.document_id ? 1 : 0) ||
      a.chunk_number - b.chunk_number,
  );
  expect(found).toEqual(sorted);
  expect(found.every(({ score }) => score >= 0 && score <= 1)).toBe(true);
}

/** The promises that hold whatever the embedder, the engine and the ranking that a request does not name. */
function describeField(user: (name: string) => Client, standard: (typeof RANKINGS)[number]): void {
  test(`is ${standard} unless a request says; null is the same as nothing`, async () => {
    const client = user('standard');
    await ingestAll(client, ['Otters eat crabs.', 'Crabs walk along the beach.', 'An otter sleeps.']);
    const asked = await Promise.all(
      RANKINGS.map((ranking) => chunksOf(client, 'do otters eat the crabs', { ranking })),
    );
    // Each has scores of its own, so that it is known which one it is.
    expect(new Set(asked.map((found) => JSON.stringify(found))).size).toBe(3);
    const found = await chunksOf(client, 'do otters eat the crabs');
    expect(found).toEqual(asked[RANKINGS.indexOf(standard)]);
    expect(await chunksOf(client, 'do otters eat the crabs', { ranking: null })).toEqual(found);
  });

  test('is one of three, else 422', async () => {
    const client = user('wrong');
    for (const path of ['/retrieve/chunks', '/retrieve/docs', '/query']) {
      for (const ranking of ['bm25', '', 'SEMANTIC', 'auto', 1, true, ['lexical'], {}]) {
        const reply = await client.post(path, { query: 'Well?', ranking });
        const detail = [
          {
            loc: ['body', 'ranking'],
            msg: "value is not a valid enumeration member; permitted: 'semantic', 'lexical', 'hybrid'",
            type: 'type_error.enum',
          },
        ];
        expect([path, ranking, reply]).toMatchObject([path, ranking, { status: 422, body: { detail } }]);
      }
    }
  });

  test.each(RANKINGS)('%s: min_score is held against the score that orders', async (ranking) => {
    const client = user(`least-${ranking}`);
    const sentence = 'The bell rings at dawn and at dusk over the town.';
    const more = ['A bell rings.', 'Dawn and dusk over a bell.', 'Trains leave at noon.', sentence, sentence];
    await ingestAll(client, more);
    const all = await chunksOf(client, 'the bell rings at dawn', { ranking, k: 1000 });
    expect(all).toHaveLength(more.length);
    expectOrdered(all);
    for (const { score } of all) {
      const asked = { ranking, k: 1000, min_score: score };
      const expected = all.filter((each) => each.score >= score);
      expect(await chunksOf(client, 'the bell rings at dawn', asked)).toEqual(expected);
    }
    for (const k of [1, 2, 3])
      expect(await chunksOf(client, 'the bell rings at dawn', { ranking, k })).toEqual(all.slice(0, k));
  });

  test('counts for documents and completions too', async () => {
    const client = user('everywhere');
    await ingestAll(client, ['Zeppelins land at the mast.', 'A mast breaks.', 'The zeppelin floats.']);
    for (const ranking of RANKINGS) {
      const asked = { query: 'where do the zeppelins land', ranking, min_score: 1e-9 };
      const chunks = await chunksOf(client, asked.query, asked);
      const docs = await client.post<{ document_id: string; score: number }[]>('/retrieve/docs', asked);
      expect(docs.body.map(({ document_id: id, score }) => [id, score])).toEqual(
        chunks.map(({ document_id: id, score }) => [id, score]),
      );
      const { body } = await client.post<{ sources: WireChunk[] }>('/query', asked);
      expect(body.sources.map((source) => [keyOf(source), source.score])).toEqual([...scoresByChunk(chunks)]);
    }
  });

  test('is in the usage record if it was asked for', async () => {
    const client = user('recorded');
    await chunksOf(client, 'first');
    await chunksOf(client, 'second', { ranking: 'hybrid' });
    const { body } = await client.get<{ metadata: unknown }[]>('/usage/recent');
    expect(body.map(({ metadata }) => metadata)).toEqual([
      { query: 'second', k: 4, min_score: 0, ranking: 'hybrid' },
      { query: 'first', k: 4, min_score: 0 },
    ]);
  });

  test('hybrid is the weighted sum of the other two, chunk by chunk', async () => {
    const client = user('sum');
    const texts = [
      'Rain falls on the hill.',
      'Falling rain, and rain again.',
      'On the hill.',
      'Nothing of it.',
    ];
    await ingestAll(client, texts);
    const [semantic, lexical, hybrid] = await Promise.all(
      RANKINGS.map(async (ranking) =>
        scoresByChunk(await chunksOf(client, 'rain falls on the hill', { ranking })),
      ),
    );
    expect(hybrid?.size).toBe(texts.length);
    for (const [chunk, score] of hybrid ?? []) {
      const [meaning = NaN, words = NaN] = [semantic?.get(chunk), lexical?.get(chunk)];
      expect(score).toBeCloseTo(WEIGHT * meaning + (1 - WEIGHT) * words, 6);
    }
  });

  test('no ranking takes the documents of strangers into a score', async () => {
    const [client, stranger] = [user('private'), user('stranger')];
    await ingestAll(client, ['The marmot whistles above the meadow.', 'The meadow is mown in June.']);
    const ask = () =>
      Promise.all(RANKINGS.map((ranking) => chunksOf(client, 'marmot on the meadow', { ranking })));
    const before = await ask();
    await ingestAll(
      stranger,
      Array.from({ length: 8 }, (_, n) => `Marmot ${String(n)} meets a marmot.`),
    );
    expect(await ask()).toEqual(before);
  });
}

describe('the ranking of a search with the builtin embedder', () => {
  describeField(useService({ env: EVERYDAY }).client, 'lexical');
});

function describeWithModel(onQueryEngine: boolean): void {
  const provider = useFakeOpenAI();
  const { client: user } = useService({ ...EMBEDDING, provider, onQueryEngine });

  describeField(user, 'semantic');

  test('what only vectors find, what only words find: hybrid finds both', async () => {
    const client = user('both');
    // The fake's vectors know words as they are written, and no two forms of one; stop words are no terms.
    const [meant, written, other] = ['How do they do it?', 'A singing whale.', 'Trains leave tomorrow.'];
    await ingestAll(client, [meant, written, other]);
    const find = async (ranking: string) =>
      contentsOf(await chunksOf(client, 'How do they sing, whales?', { ranking, min_score: 0.01 }));
    expect(await find('semantic')).toEqual([meant]);
    expect(await find('lexical')).toEqual([written]);
    expect(await find('hybrid')).toEqual([written, meant]);
  });

  test('words are found where no spaces part them', async () => {
    const client = user('unspaced');
    const [sea, town] = ['海里的鲸鱼会唱歌', '城里的火车很快'];
    await ingestAll(client, [sea, town]);
    for (const ranking of ['lexical', 'hybrid']) {
      const [best, second] = await chunksOf(client, '鲸鱼唱歌', { ranking });
      expect(best?.content).toBe(sea);
      expect(best?.score).toBeGreaterThan(second?.score ?? 1);
    }
  });

  test("terms are weighed by the caller's own documents", async () => {
    const client = user('weighed');
    await ingestAll(client, ['A zibble.', 'A quonk.']);
    const ask = () => chunksOf(client, 'zibble quonk', { ranking: 'lexical', k: 2 });
    const [first, second] = await ask();
    expect(first?.score).toBe(second?.score);
    await ingestAll(
      client,
      Array.from({ length: 8 }, (_, n) => `Zibble of many words ${String(n)}, and others like them.`),
    );
    const [rare, common] = await ask();
    expect(rare?.content).toBe('A quonk.');
    expect(rare?.score).toBeGreaterThan(common?.score ?? 1);
  });
}

describe('the ranking of a search with a model', () => {
  describeWithModel(false);
});

describeWithQueryEngine('the ranking of a search with a model on the Query Engine', () => {
  describeWithModel(true);
});

describe('search.ranking', () => {
  const service = useService({ env: LIMITED });

  test('decides for requests that say nothing', async () => {
    const client = service.client('set');
    await ingestAll(client, ['Otters eat crabs.', 'Crabs walk along the beach.']);
    const found = await chunksOf(client, 'otters and crabs');
    expect(found).toEqual(await chunksOf(client, 'otters and crabs', { ranking: 'hybrid' }));
    expect(found).not.toEqual(await chunksOf(client, 'otters and crabs', { ranking: 'lexical' }));
  });
});
