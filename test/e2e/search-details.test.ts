import { describe, expect, test } from '@jest/globals';
import { listQueryTerms, listTerms } from '../../src/shared/text/list-terms.js';
import { describeOnEachSharedIndex } from '../support/each-index.js';
import { chunksOf, ingestLong, LONG, type Span } from '../support/search-details.js';

/** Texts as searches see them, without the white space that parts their blocks. */
const flat = (text: string): string => text.replace(/\s+/gu, ' ').trim();

describeOnEachSharedIndex((service) => {
  describe('highlights', () => {
    test.each(['lexical', 'hybrid'])(
      'of a %s search are words of the query as it reads them',
      async (ranking) => {
        const client = service.client(`words-${ranking}`);
        const texts = [
          'Running herons near a café. COVID-19 was read about in § 12.',
          'A heron runs; the Café is closed.',
          '漁港の灯台と青鷺。',
        ];
        for (const text of texts) await client.ingestText(text);
        for (const query of ['run heron cafe', 'COVID-19 § 12', '漁港の灯台']) {
          const { found } = await chunksOf(client, query, { ranking, highlight: true });
          const wanted = new Set(listQueryTerms(query).terms);
          const holding = found.filter(({ content }) =>
            listTerms(content).terms.some((term) => wanted.has(term)),
          );
          expect(holding.length).toBeGreaterThan(0);
          for (const { content, highlights = [] } of holding) {
            const marked = highlights.map(({ start, end }) => content.slice(start, end));
            for (const part of marked)
              expect(listTerms(part).terms.some((term) => wanted.has(term))).toBe(true);
            const held = new Set(marked.flatMap((part) => [...listTerms(part).terms]));
            expect(
              listTerms(content).terms.filter((term) => wanted.has(term) && !held.has(term)),
            ).toHaveLength(0);
          }
        }
        const { found } = await chunksOf(client, 'heron', { ranking });
        expect(found[0]).not.toHaveProperty('highlights');
      },
    );

    test('of a semantic search are the nearest sentences', async () => {
      const client = service.client('meaning');
      await client.ingestText('The mill is old. A heron stands in the shallow water. Nobody lives here.');
      const { found } = await chunksOf(client, 'heron in the water', {
        ranking: 'semantic',
        highlight: true,
      });
      expect(
        found.map(({ content, highlights = [] }) =>
          highlights.map(({ start, end }) => content.slice(start, end)),
        ),
      ).toEqual([['A heron stands in the shallow water.']]);
    });

    test('of a document are of its best chunk, which comes with them', async () => {
      const client = service.client('documents');
      const id = await ingestLong(client);
      const { status, body } = await client.post<
        { document_id: string; best_chunk?: { chunk_number: number; content: string; highlights: Span[] } }[]
      >('/retrieve/docs', { query: 'kestrel mill', highlight: true });
      expect([status, body.length]).toEqual([200, 1]);
      const [chunk] = (await chunksOf(client, 'kestrel mill', { k: 1 })).found;
      const best = body[0]?.best_chunk;
      expect([body[0]?.document_id, best?.chunk_number, best?.content]).toEqual([
        id,
        chunk?.chunk_number,
        chunk?.content,
      ]);
      const words = new Set(best?.highlights.map(({ start, end }) => best.content.slice(start, end)));
      expect(words).toEqual(new Set(['kestrel', 'mill']));
      const plain = await client.post<object[]>('/retrieve/docs', { query: 'kestrel mill' });
      expect(plain.body[0]).not.toHaveProperty('best_chunk');
    });
  });

  describe('context', () => {
    test('is the text of the document around hits, in which no overlap is repeated', async () => {
      const client = service.client('windows');
      const id = await ingestLong(client);
      const plain = (await chunksOf(client, 'lynx valley 13', { k: 5 })).found;
      for (const context of [
        {},
        { before: 0, after: 2 },
        { mode: 'section', max_tokens: 4_096 },
        { mode: 'document', max_tokens: 32_768 },
        { mode: 'document', max_tokens: 1 },
      ]) {
        const { found } = await chunksOf(client, 'lynx valley 13', { k: 5, context });
        expect(found.length).toBeLessThanOrEqual(plain.length);
        const matches = found.flatMap((each) =>
          (each.matches ?? []).map((match) => ({ ...match, content: each.content })),
        );
        expect(matches.map(({ chunk_number: number }) => number).sort()).toEqual(
          plain.map(({ chunk_number: number }) => number).sort(),
        );
        for (const { content, document_id: document } of found) {
          expect(document).toBe(id);
          expect(flat(LONG)).toContain(flat(content));
        }
        for (const { chunk_number: number, start, end, content, score } of matches) {
          const hit = plain.find((each) => each.chunk_number === number);
          expect([content.slice(start, end), score]).toEqual([hit?.content, hit?.score]);
        }
        expect(found.map(({ score }) => score)).toEqual(
          found.map(({ score }) => score).toSorted((a, b) => b - a),
        );
        expect([found[0]?.chunk_number, found[0]?.score]).toEqual([plain[0]?.chunk_number, plain[0]?.score]);
      }
    });

    test('of a document is all of it, of a section all under its headings, and without room the hit alone', async () => {
      const client = service.client('modes');
      await ingestLong(client);
      const ask = async (context: object) =>
        (await chunksOf(client, 'lynx valley 13', { k: 1, context })).found[0];
      const hit = (await chunksOf(client, 'lynx valley 13', { k: 1 })).found[0];
      expect(flat((await ask({ mode: 'document', max_tokens: 32_768 }))?.content ?? '')).toBe(flat(LONG));
      expect((await ask({ mode: 'document', max_tokens: 1 }))?.content).toBe(hit?.content);
      const section = (await ask({ mode: 'section', max_tokens: 32_768 }))?.content ?? '';
      expect(section).toContain(hit?.content);
      expect(section).toContain('Note 8.0:');
      expect(section).toContain('Note 15.11:');
      expect(section).not.toContain('Note 16.1:');
      expect(section).not.toContain('Note 7.5:');
    });

    test('marks all of a widened text, and refuses more than it can widen', async () => {
      const client = service.client('marked');
      await ingestLong(client);
      const { found } = await chunksOf(client, 'lynx', {
        k: 1,
        context: { before: 2, after: 2 },
        highlight: true,
      });
      const words = found.flatMap(({ content, highlights = [] }) =>
        highlights.map(({ start, end }) => content.slice(start, end)),
      );
      expect(new Set(words)).toEqual(new Set(['lynx']));
      expect(words.length).toBe(found[0]?.content.match(/lynx/gu)?.length);
      const refused = await client.post('/retrieve/chunks', { query: 'lynx', k: 101, context: {} });
      expect([refused.status, refused.body]).toEqual([
        422,
        {
          detail: [
            expect.objectContaining({
              loc: ['body', 'k'],
              type: 'value_error.number.not_le',
              ctx: { limit_value: 100 },
            }),
          ],
        },
      ]);
      const bad = await client.post('/retrieve/chunks', {
        query: 'lynx',
        context: { mode: 'page', before: 101, max_tokens: 0 },
      });
      expect([bad.status, bad.body]).toMatchObject([
        422,
        {
          detail: [
            { loc: ['body', 'context', 'mode'] },
            { loc: ['body', 'context', 'before'] },
            { loc: ['body', 'context', 'max_tokens'] },
          ],
        },
      ]);
    });

    test('of an answer is what it is made from, and its quotes stand where they say', async () => {
      const client = service.client('asking');
      await ingestLong(client);
      const { status, body } = await client.post<{
        sources: {
          chunk_number: number;
          text: string;
          quotes: (Span & { text: string; chunk_number: number; line: number })[];
          matches: { chunk_number: number }[];
        }[];
      }>('/query', {
        query: 'Where was the lynx of valley 13 seen?',
        k: 3,
        context: { before: 1, after: 1 },
      });
      expect(status).toBe(200);
      const quotes = body.sources.flatMap(({ text, quotes: own }) =>
        own.map((quote) => ({ quote, source: text })),
      );
      expect(quotes.length).toBeGreaterThan(0);
      const chunks = (await chunksOf(client, 'lynx valley 13', { k: 100 })).found;
      const lines = LONG.split('\n');
      for (const { quote, source } of quotes) {
        expect(source.slice(quote.start, quote.end)).toBe(quote.text);
        expect(chunks.find(({ chunk_number: number }) => number === quote.chunk_number)?.content).toContain(
          quote.text,
        );
        expect(lines[quote.line - 1]).toContain(quote.text);
      }
      for (const source of body.sources)
        expect(source.matches.map(({ chunk_number: number }) => number)).toContain(source.chunk_number);
    });

    test('holds nothing of what another caller has', async () => {
      const [owner, other] = [service.client('owner'), service.client('stranger')];
      await ingestLong(owner);
      await other.ingestText('A lynx of mine.');
      const { found } = await chunksOf(other, 'lynx', {
        context: { mode: 'document' },
        highlight: true,
        explain: true,
      });
      expect(found.map(({ content }) => content)).toEqual(['A lynx of mine.']);
    });
  });

  describe('an explanation', () => {
    test.each(['lexical', 'semantic', 'hybrid'])(
      'of a %s score has parts that add up to it',
      async (ranking) => {
        const client = service.client(`explained-${ranking}`);
        await ingestLong(client);
        await client.ingestText('The heron and the otter share a weir. COVID-19 is another matter.');
        for (const query of ['heron weir otter', 'COVID-19 at the mill', 'nothing of it: zebra']) {
          const { found, headers } = await chunksOf(client, query, { ranking, explain: true, k: 20 });
          expect(headers.get('server-timing')).toMatch(/index;dur=\d/);
          expect(found.length).toBeGreaterThan(5);
          for (const { score, explanation } of found) {
            const terms = explanation?.words?.terms ?? [];
            const sum = terms.reduce((all, { share }) => all + share, explanation?.vector?.share ?? 0);
            expect(explanation).toMatchObject({ ranking, score, reranked: null });
            expect(sum).toBeCloseTo(score, 6);
            if (ranking !== 'semantic')
              expect(terms.reduce((all, { weight }) => all + weight, 0)).toBeCloseTo(1, 6);
          }
        }
        const plain = await chunksOf(client, 'heron', { ranking });
        expect(plain.headers.get('server-timing')).toBeNull();
        expect(plain.found[0]).not.toHaveProperty('explanation');
      },
    );

    test('names the words of the query, and says nothing of what others have', async () => {
      const [reader, owner] = [service.client('naming'), service.client('silent')];
      await reader.ingestText('Herons and otters. Badgers as well.');
      const explain = async () =>
        (await chunksOf(reader, 'HERON otters', { explain: true, ranking: 'lexical' })).found;
      const before = await explain();
      expect(before[0]?.explanation?.words?.terms.map(({ term }) => term).sort()).toEqual([
        'HERON',
        'otters',
      ]);
      for (let i = 0; i < 5; i += 1) await owner.ingestText(`Otters number ${String(i)} and their herons.`);
      expect(await explain()).toEqual(before);
    });
  });
});
