import { describe, expect, test } from '@jest/globals';
import { NOWHERE } from '../../../src/shared/chunks/fields.js';
import type { Candidate, VectorSearch, WordSearch } from '../../../src/shared/ports.js';
import { OutdatedError, type ReadHits } from '../../../src/shared/search/read-hits.js';
import type { SearchRequest } from '../../../src/shared/search/request.js';
import { createSearch, wasOvertaken } from '../../../src/shared/search/search.js';
import { matchable } from '../../support/matchable.js';
import { RANKERS } from '../../support/search-worlds.js';

const GONE = 'gone';
const of = (documentId: string, { score = 0.5, number = 0 } = {}): Candidate => {
  return { documentId, generation: `of ${documentId}`, number, score };
};
const many = (count: number, score = 0.5) =>
  Array.from({ length: count }, (_, i) => of(`d${String(i).padStart(3, '0')}`, { score }));

/** Reads of each candidate the text that is its document's id. Documents whose ids begin with `gone` are not there. */
const readAll: ReadHits = (chunks, ids, keep, { confirmation } = {}) => {
  const { published } = matchable({});
  confirmation?.confirm();
  return Promise.resolve({
    contents: chunks.map(({ generation }) => ({ text: generation.replace('of ', ''), ...NOWHERE })),
    records: ids.map((id) =>
      id.startsWith(GONE)
        ? null
        : keep(matchable({}, { id, published: published && { ...published, generation: `of ${id}` } })),
    ),
  });
};

interface World {
  readonly ranking?: keyof typeof RANKERS;
  readonly words?: (asked: WordSearch) => readonly Candidate[];
  readonly vectors?: (asked: VectorSearch) => readonly Candidate[];
  /** The scores by words of all that is asked for by itself. */
  readonly share?: number;
  readonly readHits?: ReadHits;
}

/** A search in an index that answers as it is told, with the number of its questions. */
function open({
  ranking = 'lexical',
  words = () => [],
  vectors = () => [],
  share = 0.5,
  readHits = readAll,
}: World) {
  const asked = { words: 0, vectors: 0, embedded: [] as unknown[] };
  const search = createSearch({
    index: {
      words: {
        search: (question) => {
          asked.words += 1;
          return Promise.resolve([...words(question)]);
        },
        scores: ({ chunks }) => Promise.resolve(new Float64Array(chunks.length).fill(share)),
      },
      vectors: {
        search: (question) => {
          asked.vectors += 1;
          return Promise.resolve([...vectors(question)]);
        },
        similarities: ({ chunks }) => Promise.resolve(new Float64Array(chunks.length).fill(0.5)),
      },
    },
    embedding: {
      embedQuery: (query, options) => {
        asked.embedded.push([query, options?.signal]);
        return Promise.resolve({ vector: new Float32Array(1), tokens: null });
      },
    },
    chooseRanker: () => RANKERS[ranking],
    readHits,
  });
  const find = async (changes: Partial<SearchRequest> = {}) => {
    const hits = await search({
      principal: { id: 'alice' },
      query: 'crane',
      filter: null,
      k: 10,
      minScore: 0,
      per: 'chunk',
      ...changes,
    });
    return hits.map(({ content }) => content);
  };
  return { asked, find };
}

describe('an answer from data that may have changed meanwhile', () => {
  const state = { server: 'run', epoch: 'epoch', sequence: 7 };

  test('is looked for again in the present data where it is nothing, since no read has told', async () => {
    const { asked, find } = open({
      words: ({ onUnconfirmed }) => {
        onUnconfirmed?.(state);
        return onUnconfirmed ? [] : [of('new')];
      },
    });
    expect(await find()).toEqual(['new']);
    expect(asked.words).toBe(2);
  });

  test('is looked for again where the read tells that it has changed', async () => {
    const { asked, find } = open({
      words: ({ onUnconfirmed }) => {
        onUnconfirmed?.(state);
        return [of(onUnconfirmed ? 'old' : 'new')];
      },
      readHits: (chunks, ids, keep, options) =>
        options?.confirmation?.state === null
          ? readAll(chunks, ids, keep, options)
          : Promise.reject(new OutdatedError()),
    });
    expect(await find()).toEqual(['new']);
    expect(asked.words).toBe(2);
  });

  test('is given where the read tells that it has not', async () => {
    const { asked, find } = open({
      words: ({ onUnconfirmed }) => {
        onUnconfirmed?.(state);
        return [of('a')];
      },
    });
    expect(await find()).toEqual(['a']);
    expect(asked.words).toBe(1);
  });

  test('is not looked for again where the read fails', async () => {
    const { asked, find } = open({
      words: () => [of('a')],
      readHits: () => Promise.reject(new Error('away')),
    });
    await expect(find()).rejects.toThrow('away');
    expect(asked.words).toBe(1);
  });
});

describe('a candidate that is no hit takes the place of no other', () => {
  test('where the index looks no further than for as many as are wanted', async () => {
    const all = [of(GONE, { score: 0.9 }), ...many(20)];
    const { find } = open({ words: ({ enough }) => all.slice(0, enough) });
    expect(await find({ k: 2, minScore: 0.1 })).toEqual(['d000', 'd001']);
  });

  test('that the words alone put behind it, and its section before all', async () => {
    const byOwnScore = [of(GONE, { score: 0.8 }), ...many(16), of('lifted', { score: 0.9 }), ...many(60)];
    const { find } = open({ words: ({ limit }) => byOwnScore.slice(0, limit) });
    expect(await find({ k: 1 })).toEqual(['lifted']);
  });
});

describe('the index is asked once', () => {
  test('for a page that is full', async () => {
    const chunks = Array.from({ length: 200 }, (_, number) => of(`d${String(number % 50)}`, { number }));
    const { asked, find } = open({ words: ({ limit }) => chunks.slice(0, limit) });
    expect(await find({ per: 'document' })).toHaveLength(10);
    expect(await find()).toHaveLength(10);
    expect(asked.words).toBe(2);
  });

  test('for a page that some more candidates than it has places for fill', async () => {
    const { asked, find } = open({ words: () => many(12) });
    expect(await find({ minScore: 0.1 })).toHaveLength(10);
    expect(asked.words).toBe(1);
  });

  test('where fewer reach the least score, since those that follow score less', async () => {
    const { asked, find } = open({
      ranking: 'semantic',
      vectors: ({ limit }) => [of('a', { score: 0.9 }), ...many(99, 0.2)].slice(0, limit),
    });
    expect(await find({ minScore: 0.8 })).toEqual(['a']);
    expect(asked.vectors).toBe(1);
  });

  test('where what serves lacks a score for a reason of its own', async () => {
    const { asked, find } = open({
      ranking: 'hybrid',
      vectors: () => [of('a')],
      words: () => [of('b')],
      share: NaN,
    });
    expect(await find()).toEqual(['b']);
    expect(asked).toMatchObject({ words: 1, vectors: 1 });
  });
});

test('of all that went away while it was scored a hundred are looked at', async () => {
  const read: number[] = [];
  const { find } = open({
    ranking: 'hybrid',
    vectors: () => Array.from({ length: 150 }, (_, i) => of(`${GONE}${String(i)}`)),
    words: () => [of('b')],
    share: NaN,
    readHits: (chunks, ids, keep, options) => {
      read.push(ids.length);
      return readAll(chunks, ids, keep, options);
    },
  });
  expect(await find()).toEqual(['b']);
  expect(read.toSorted((a, b) => a - b)).toEqual([1, 100]);
});

test('the vector of the query is waited for no longer than the request waits', async () => {
  const { signal } = new AbortController();
  const { asked, find } = open({ ranking: 'semantic' });
  await find({ signal });
  expect(asked.embedded).toEqual([['crane', signal]]);
});

test.each([
  { dropped: [], isOvertaken: false },
  { dropped: [null], isOvertaken: false },
  { dropped: ['of a'], isOvertaken: false },
  { dropped: ['newer'], isOvertaken: true },
  { dropped: [null, 'newer', 'of a'], isOvertaken: true },
])('candidates are overtaken where another generation serves: $dropped → $isOvertaken', (each) => {
  const dropped = each.dropped.map((servedBy) => ({ servedBy }));
  expect(wasOvertaken([of('a')], dropped)).toBe(each.isOvertaken);
});
