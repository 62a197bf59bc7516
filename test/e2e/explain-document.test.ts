import { describe, expect, test } from '@jest/globals';
import type { Client } from '../support/client.js';
import { describeOnEachSharedIndex } from '../support/each-index.js';
import { ingestLong, type Detailed, type Explanation } from '../support/search-details.js';

describeOnEachSharedIndex((service) => {
  describe('the explanation of a document', () => {
    interface Told {
      readonly found: boolean;
      readonly reason: string;
      readonly status: string;
      readonly error: { readonly code: string } | null;
      readonly conditions: readonly { readonly loc: readonly unknown[]; readonly condition: string }[];
      readonly rank: number | null;
      readonly of: number | null;
      readonly score: number | null;
      readonly chunk_number: number | null;
      readonly explanation: Explanation | null;
    }
    const explain = async (client: Client, query: string, id: string, more: object = {}) => {
      const asked = { query, document_id: id, ...more };
      const { status, body } = await client.post<Told>('/retrieve/explain', asked);
      expect([status, status === 200 ? null : body]).toEqual([200, null]);
      return body;
    };

    test.each(['lexical', 'semantic', 'hybrid'])(
      'agrees with a %s search for a thousand',
      async (ranking) => {
        const client = service.client(`agrees-${ranking}`);
        const ids: string[] = [await ingestLong(client)];
        for (const text of [
          'A heron at the mill.',
          'Otters and a heron.',
          'The weir at dawn.',
          'Nothing of it.',
        ])
          ids.push((await client.ingestText(text)).body.external_id);
        for (const minScore of [0, 0.2])
          for (const per of ['chunk', 'document']) {
            const path = per === 'chunk' ? '/retrieve/chunks' : '/retrieve/docs';
            const asked = { query: 'the heron at the mill', ranking, min_score: minScore };
            const { body } = await client.post<Detailed[]>(path, { ...asked, k: 1_000 });
            for (const id of ids) {
              const rank = body.findIndex(({ document_id: document }) => document === id) + 1;
              const told = await explain(client, asked.query, id, { ...asked, per, k: 1_000 });
              expect([told.found, told.rank]).toEqual(rank > 0 ? [true, rank] : [false, null]);
              if (rank > 0) expect([told.of, told.score]).toEqual([body.length, body[rank - 1]?.score]);
              else expect(told.score).toBeLessThan(minScore);
              const { words, vector } = told.explanation ?? {};
              const sum = (words?.terms ?? []).reduce((all, { share }) => all + share, vector?.share ?? 0);
              expect(sum).toBeCloseTo(told.score ?? Number.NaN, 6);
            }
          }
      },
    );

    test('names the rank behind k, the least score, and the lack of a common word', async () => {
      const client = service.client('reasons');
      const ids: string[] = [];
      for (const text of ['heron heron', 'heron and otter', 'heron and otter and badger in one', 'lynx'])
        ids.push((await client.ingestText(text)).body.external_id);
      const [first = '', , third = '', lynx = ''] = ids;
      const asked = { ranking: 'lexical' };
      expect(await explain(client, 'heron', first, asked)).toMatchObject({
        found: true,
        reason: 'found',
        rank: 1,
        of: 4,
      });
      expect(await explain(client, 'heron', third, { ...asked, k: 1 })).toMatchObject({
        found: false,
        reason: 'beyond_k',
        rank: 3,
        of: 4,
      });
      expect(await explain(client, 'heron', third, { ...asked, min_score: 0.9 })).toMatchObject({
        found: false,
        reason: 'below_min_score',
        rank: null,
        chunk_number: 0,
      });
      expect(await explain(client, 'heron', lynx, { ...asked, min_score: 0.1 })).toMatchObject({
        found: false,
        reason: 'no_common_word',
        score: 0,
      });
      expect(await explain(client, 'heron', lynx, { ...asked, k: 1 })).toMatchObject({
        reason: 'no_common_word',
        rank: 4,
      });
    });

    test('names the conditions of the filter that do not hold, as they were written', async () => {
      const client = service.client('filtered');
      const metadata = { topic: 'law', year: 2019, tags: ['a', 'b'] };
      const id = (await client.ingestText('A heron.', { metadata })).body.external_id;
      const conditionsOf = async (filters: object) =>
        (await explain(client, 'heron', id, { filters })).conditions;
      expect(await conditionsOf({ topic: 'law', year: { $gte: 2020, $lt: 2030 } })).toEqual([
        { loc: ['year', '$gte'], condition: '{"year":{"$gte":2020}}' },
      ]);
      expect(
        await conditionsOf({ $and: [{ topic: 'law' }, { topic: 'sea', tags: { $in: ['b'] } }] }),
      ).toEqual([{ loc: ['$and', 1, 'topic'], condition: '{"topic":"sea"}' }]);
      const either = { $or: [{ topic: 'sea' }, { year: 2020 }], $not: { topic: 'law' } };
      expect((await conditionsOf(either)).map(({ loc }) => loc)).toEqual([['$or'], ['$not']]);
      expect(await explain(client, 'heron', id, { filters: { topic: 'law' } })).toMatchObject({
        reason: 'found',
        conditions: [],
      });
    });

    test('tells of a document that is not published, and of one that is left out because others share it', async () => {
      const client = service.client('others');
      const failed = await client.ingestFile(Buffer.from('   '), 'blank.txt');
      const id = failed.headers.get('location')?.split('/')[2] ?? '';
      expect(await explain(client, 'heron', id)).toMatchObject({
        reason: 'not_published',
        status: 'failed',
        error: { code: 'empty_document' },
        rank: null,
      });
      const owner = service.client('sharing');
      const shared = await owner.ingestText('A heron of theirs.', {
        access_control: { readers: [service.caller('others')] },
      });
      expect(await explain(client, 'heron', shared.body.external_id)).toMatchObject({ reason: 'found' });
      expect(await explain(client, 'heron', shared.body.external_id, { shared: 'own' })).toMatchObject({
        reason: 'not_shared',
      });
    });

    test('of one that the caller may not read is the same as of one that does not exist', async () => {
      const [owner, stranger] = [service.client('closed'), service.client('curious')];
      const id = (await owner.ingestText('A secret heron.')).body.external_id;
      const answers = await Promise.all(
        [id, '00000000-0000-4000-8000-000000000000', 'no id'].map((each) =>
          stranger.post('/retrieve/explain', { query: 'heron', document_id: each, explain: true }),
        ),
      );
      const seen = answers.map(({ status, body }) => [status, body]);
      expect(seen).toEqual(seen.map(() => [404, { detail: 'Document not found' }]));
      const { status, body } = await stranger.post('/retrieve/explain', { query: ' ', k: 0, per: 'page' });
      expect([status, body]).toMatchObject([422, { detail: expect.any(Array) }]);
    });
  });
});
