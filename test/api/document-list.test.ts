import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { createUser, idsOf, type User } from '../support/document-client.js';

let api: DocumentApi;

beforeAll(async () => {
  api = await startDocumentApi();
});
afterAll(async () => {
  await api.close();
});

/** The path that the header names; null at the end of a list. */
const nextOf = ({ headers }: { readonly headers: Headers }): string | null => {
  const address = /^<([^>]*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
  return address === undefined ? null : address.slice(api.url.length);
};
async function ingestMany(user: User, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1)
    ids.push(
      await user.ingest(`text ${String(i)}`, {
        filename: `name-${String(i)}.txt`,
        metadata: { even: i % 2 === 0 },
      }),
    );
  return ids;
}
const cursorRefusal = { detail: [{ loc: ['query', 'cursor'], type: 'value_error.cursor' }] };

describe('GET /documents by the address of the next page', () => {
  test('shows everything once, while documents come and go', async () => {
    const user = createUser(api, 'pager');
    const ids = await ingestMany(user, 7);
    const seen: string[] = [];
    for (let path: string | null = '/documents?limit=2'; path !== null;) {
      const answer = await user.get(path);
      seen.push(...idsOf(answer));
      path = nextOf(answer);
      await user.ingest('late');
      // The last one on the page goes, from which the next page is found.
      await user.send('DELETE', `/documents/${seen.at(-1) ?? ''}`);
    }
    expect(seen).toEqual(ids.toReversed());
  });

  test('keeps filter, name, order and count', async () => {
    const user = createUser(api, 'keeper');
    const ids = await ingestMany(user, 6);
    const filters = encodeURIComponent(JSON.stringify({ even: true }));
    const first = await user.get(
      `/documents?limit=2&filters=${filters}&q=NAME&sort=name&order=asc&total=true`,
    );
    expect([idsOf(first), first.headers.get('quire-total')]).toEqual([[ids[0], ids[2]], '3']);
    const second = await user.get(nextOf(first) ?? '');
    expect([idsOf(second), second.headers.get('quire-total'), nextOf(second)]).toEqual([[ids[4]], '3', null]);
  });

  test('does not go on as another list', async () => {
    const user = createUser(api, 'other');
    await ingestMany(user, 3);
    const filters = encodeURIComponent("{'even': True}");
    const next = new URL(nextOf(await user.get(`/documents?limit=1&filters=${filters}`)) ?? '', api.url);
    const cursor = next.searchParams.get('cursor') ?? '';
    for (const query of [
      `cursor=${cursor}`,
      `cursor=${cursor}&filters=${filters}&q=x`,
      `cursor=${cursor}&filters=${filters}&sort=name`,
    ]) {
      const answer = await user.get(`/documents?${query}`);
      expect([answer.status, answer.body]).toMatchObject([422, cursorRefusal]);
    }
    expect(idsOf(await user.get(`/documents?cursor=${cursor}&filters=${filters}`))).toHaveLength(1);
  });

  test.each([
    'x',
    '%00',
    'W10',
    'bnVsbA',
    Buffer.from('["created",true,"x","y",0,""]').toString('base64url'),
    'A'.repeat(10_000),
  ])('refuses the cursor %.20s', async (cursor) => {
    const answer = await createUser(api, 'wrong').get(`/documents?cursor=${cursor}`);
    expect([answer.status, answer.body]).toMatchObject([422, cursorRefusal]);
  });

  test('goes on behind names whose letters are folded to many', async () => {
    const user = createUser(api, 'folder');
    // Normalisation writes this sign in 18 letters, and a name may have 255 of them.
    const names = ['a', 'b', 'c'].map((letter) => `${'\ufdfa'.repeat(250)}${letter}`);
    const ids = await Promise.all(names.map((filename) => user.ingest('text', { filename })));
    const seen: string[] = [];
    for (let path: string | null = '/documents?limit=1&sort=name'; path !== null;) {
      const answer = await user.get(path);
      seen.push(...idsOf(answer));
      path = nextOf(answer);
      expect(path?.length ?? 0).toBeLessThan(2_048);
    }
    expect(seen.toSorted()).toEqual(ids.toSorted());
  });

  test('is not told in a header that clients and proxies refuse as too long', async () => {
    const user = createUser(api, 'lengthy');
    await ingestMany(user, 2);
    const filters = encodeURIComponent(JSON.stringify({ even: { $nin: ['漢'.repeat(1_500)] } }));
    const answer = await user.get(`/documents?limit=1&filters=${filters}`);
    const path = nextOf(answer) ?? '';
    expect(path.length).toBeLessThan(1_024);
    expect(idsOf(await user.get(`${path}&filters=${filters}`))).toHaveLength(1);
  });

  test('without filters that are too long for an address answers no other list, but what to do', async () => {
    const user = createUser(api, 'unfiltered');
    await ingestMany(user, 4);
    const filters = encodeURIComponent(JSON.stringify({ even: { $nin: [true, 'x'.repeat(4_096)] } }));
    const odd = await user.get(`/documents?limit=1&filters=${filters}`);
    const path = nextOf(odd) ?? '';
    const { status, body } = await user.get(path);
    expect({ status, body }).toMatchObject({ status: 422, body: cursorRefusal });
    expect(JSON.stringify(body)).toMatch(/filters .*Link.* must be sent again/);
    const rest = await user.get(`${path}&filters=${filters}`);
    expect(idsOf(rest)).toHaveLength(1);
    expect(idsOf(rest)).not.toEqual(idsOf(odd));
    expect(nextOf(rest)).toBeNull();
  });

  test('shows a caller nothing that another may read', async () => {
    const user = createUser(api, 'owner');
    await ingestMany(user, 3);
    const path = nextOf(await user.get('/documents?limit=1')) ?? '';
    expect(idsOf(await createUser(api, 'stranger').get(path))).toEqual([]);
  });
});

describe('GET /documents', () => {
  test('is sorted by the time of creation or change, or by name, and the other way round', async () => {
    const user = createUser(api, 'sorter');
    const [a = '', b = '', c = ''] = await ingestMany(user, 3);
    await user.send('PATCH', `/documents/${a}`, { metadata: { x: 1 } }, { Prefer: 'respond-async' });
    const listed = async (query: string) => idsOf(await user.get(`/documents?${query}`));
    expect(await listed('')).toEqual([c, b, a]);
    expect(await listed('sort=created')).toEqual([c, b, a]);
    expect(await listed('sort=-created')).toEqual([c, b, a]);
    expect(await listed('order=asc')).toEqual([a, b, c]);
    expect(await listed('sort=updated')).toEqual([a, c, b]);
    expect(await listed('sort=updated&order=asc')).toEqual([b, c, a]);
    expect(await listed('sort=name')).toEqual([a, b, c]);
    expect(await listed('sort=-name')).toEqual([c, b, a]);
    expect(await listed('sort=name&skip=1&limit=1')).toEqual([b]);
    const wrong = await user.get('/documents?sort=size&order=up&total=maybe');
    expect(wrong.body).toMatchObject({
      detail: [
        { loc: ['query', 'total'], type: 'type_error.bool' },
        { loc: ['query', 'sort'], type: 'type_error.enum' },
        { loc: ['query', 'order'], type: 'type_error.enum' },
      ],
    });
  });

  test('tells how many documents match where that is asked for', async () => {
    const user = createUser(api, 'counter');
    await ingestMany(user, 3);
    const answer = await user.get('/documents?limit=1&skip=1&total=1');
    expect([idsOf(answer).length, answer.headers.get('quire-total')]).toEqual([1, '3']);
    expect((await user.get('/documents?total=true&q=name-1')).headers.get('quire-total')).toBe('1');
    expect((await user.get('/documents?total=false')).headers.get('quire-total')).toBeNull();
    expect((await user.get('/documents')).headers.get('link')).toBeNull();
  });

  test('finds file names by words', async () => {
    const user = createUser(api, 'finder');
    const [zurich] = [
      await user.ingest('a', { filename: 'Zürich budget_2024.txt' }),
      await user.ingest('b', { filename: 'Other.txt' }),
    ];
    const found = async (q: string) => idsOf(await user.get(`/documents?q=${encodeURIComponent(q)}`));
    expect(await found('zurich BUDGET')).toEqual([zurich]);
    expect(await found('2024')).toEqual([zurich]);
    expect(await found('none')).toEqual([]);
    expect(await found(' ')).toHaveLength(2);
    const long = await user.get(`/documents?q=${'x'.repeat(257)}`);
    expect(long.body).toMatchObject({
      detail: [{ loc: ['query', 'q'], type: 'value_error.any_str.max_length' }],
    });
  });
});
