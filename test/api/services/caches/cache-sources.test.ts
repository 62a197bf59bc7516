import { describe, expect, test } from '@jest/globals';
import { findCacheSources, MAX_SOURCES } from '../../../../src/api/services/caches/cache-sources.js';
import { principalOf } from '../../../../src/shared/access/access.js';
import { at } from '../../../../src/shared/at.js';
import type { CachePassage } from '../../../../src/shared/caches/passages.js';
import type { DocumentRecord } from '../../../../src/shared/document.js';
import type { Quote } from '../../../../src/shared/ports.js';
import { makeContent, makeDocument } from '../../../support/documents.js';

const OWNER = 'owner';
const NAMES = ['amber', 'birch', 'cedar'];

/** Documents of chunks, of which each but the first begins with `overlap` units of the text before it. */
function library(documents: readonly (readonly string[])[], overlap = 0) {
  const texts = new Map<string, string[]>();
  const passages = documents.map((added, i): CachePassage => {
    let text = '';
    const parts = added.map((own, number) => {
      const repeated = Math.min(overlap, text.length);
      const part = { number, start: text.length, overlap: repeated };
      const generation = `generation ${at(NAMES, i)}`;
      texts.set(generation, [...(texts.get(generation) ?? []), text.slice(text.length - repeated) + own]);
      text += own;
      return part;
    });
    return {
      documentId: at(NAMES, i),
      generation: `generation ${at(NAMES, i)}`,
      chunkNumber: 0,
      text,
      parts,
    };
  });
  const records = new Map<string, DocumentRecord>(
    passages.map(({ documentId: id, generation }) => [
      id,
      makeDocument({ id, ownerId: OWNER, published: makeContent({ generation }), pending: null }),
    ]),
  );
  const find = (
    text: string,
    more: { quotes?: readonly Quote[]; isUsable?: (record: { id: string }) => boolean } = {},
  ) =>
    findCacheSources(
      {
        chunks: {
          readTexts: (generation, first) => {
            const content = texts.get(generation)?.[first];
            const chunk = {
              number: first,
              tokenCount: 1,
              overlap,
              like: null,
              location: null,
              section: [],
              spots: '',
            };
            return Promise.resolve(content === undefined ? [] : [{ ...chunk, text: content }]);
          },
        },
        records: {
          readEach: async function* (ids) {
            for (const id of ids) yield await Promise.resolve(records.get(id) ?? null);
          },
        },
        sharedViews: { predicateOf: () => Promise.resolve(more.isUsable ?? (() => true)) },
      },
      { principal: principalOf(OWNER), shared: 'all', baseUrl: 'http://quire' },
      { text, quotes: more.quotes, passages },
    );
  return { passages, records, find };
}

const TOWER = 'The lighthouse of Borkum was built in 1879. ';
const FERRY = 'Ferries leave from Emden twice a day. ';
const TEA = 'Tea with cream and rock candy is served everywhere. ';

const shown = ({ sources }: Awaited<ReturnType<typeof findCacheSources>>) =>
  sources.map(({ documentId, chunkNumber, quotes }) => [
    documentId,
    chunkNumber,
    quotes.map(({ text }) => text),
  ]);

describe('the sources of an answer over whole documents', () => {
  test('are the chunks that it quotes, with addresses, and what no document supports is listed', async () => {
    const { find } = library([[FERRY, TOWER], [TEA]]);
    const found = await find(
      'The lighthouse was built in 1879 [1]. Its keeper is called Wilhelmina Jansen [1].',
    );
    expect(shown(found)).toEqual([['amber', 1, [TOWER.trim()]]]);
    expect(found.unsupported).toEqual(['Its keeper is called Wilhelmina Jansen [1].']);
    expect(found.sources).toMatchObject([
      {
        score: 1,
        owner: OWNER,
        url: `http://quire/view/amber?chunk=1&quote=0-${String(TOWER.trim().length)}`,
        pageUrl: null,
      },
    ]);
  });

  test('are those of the document that a sentence cites, by its number in the prompt', async () => {
    const { find } = library([[FERRY, TEA], [TOWER, TEA], [TEA]]);
    for (const [number, name, chunk] of [
      [1, 'amber', 1],
      [2, 'birch', 1],
      [3, 'cedar', 0],
    ] as const)
      expect(shown(await find(`Tea is served with cream and rock candy [${String(number)}].`))).toEqual([
        [name, chunk, [TEA.trim()]],
      ]);
  });

  test('hold a sentence that begins in one chunk and ends in the next as a whole, where that repeats it', async () => {
    const half = TOWER.length / 2;
    const { find } = library([[FERRY + TOWER.slice(0, half), TOWER.slice(half) + TEA]], half);
    const found = await find('The lighthouse of Borkum was built in 1879 [1].');
    expect(shown(found)).toEqual([['amber', 1, [TOWER.trim()]]]);
  });

  test('are the same for sentences that the engine has named', async () => {
    const { find } = library([[FERRY], [TEA, TOWER]]);
    const start = TEA.length;
    const quotes = [{ passage: 1, start, end: start + TOWER.trim().length }];
    const found = await find('Extracted from the documents: …', { quotes });
    expect(shown(found)).toEqual([['birch', 1, [TOWER.trim()]]]);
    expect(found.unsupported).toEqual([]);
  });

  test(`are ${String(MAX_SOURCES)} at most, those of which it quotes most first`, async () => {
    const ships = Array.from({ length: MAX_SOURCES + 5 }, (_, i) => {
      const more = 'of the northern company '.repeat(i);
      return `Vessel Quartz${String(1000 + i)} ${more}carries cargo ${String(5000 + i)}. `;
    });
    const { find, passages } = library([ships]);
    const { text } = at(passages, 0);
    const quotes = ships.map((ship) => {
      const start = text.indexOf(ship);
      return { passage: 0, start, end: start + ship.trim().length };
    });
    const { sources } = await find('All of them.', { quotes });
    expect(sources.map(({ chunkNumber }) => chunkNumber)).toEqual(
      ships.map((_, i) => ships.length - 1 - i).slice(0, MAX_SOURCES),
    );
    const scores = sources.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(scores.reduce((sum, score) => sum + score, 0)).toBeLessThan(1);
  });

  test('are none that were closed, changed or removed since the prompt was made', async () => {
    const answer = 'The lighthouse was built in 1879 [1]. Tea is served with cream and rock candy [2].';
    const closed = library([[TOWER], [TEA]]);
    expect(shown(await closed.find(answer, { isUsable: ({ id }) => id !== 'amber' }))).toEqual([
      ['birch', 0, [TEA.trim()]],
    ]);
    const changed = library([[TOWER], [TEA]]);
    const record = changed.records.get('birch');
    if (record) changed.records.set('birch', { ...record, published: makeContent({ generation: 'later' }) });
    expect(shown(await changed.find(answer))).toEqual([['amber', 0, [TOWER.trim()]]]);
    changed.records.delete('amber');
    expect(shown(await changed.find(answer))).toEqual([]);
  });

  test('are none where the cache holds nothing, and nothing is said to be unsupported', async () => {
    expect(await library([]).find('Nothing was found in the documents.')).toEqual({
      sources: [],
      unsupported: [],
    });
  });
});
