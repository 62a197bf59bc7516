import { beforeAll, describe, expect, test } from '@jest/globals';
import { parseFilter } from '../../src/shared/filters/parse.js';
import type { Client } from '../support/client.js';
import { GUARDED } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';

const service = useService({ env: GUARDED });
const user = service.client;

interface Found {
  readonly records: readonly {
    readonly title: string;
    readonly content: string;
    readonly score: number;
    readonly metadata: Readonly<Record<string, unknown>>;
  }[];
  readonly error_code?: number;
}
const dify = (client: Client, more: Record<string, unknown> = {}) =>
  client.post<Found>('/dify/retrieval', { knowledge_id: 'all', query: 'otter', ...more });
const titles = ({ body }: { readonly body: Found }) =>
  body.records.map(({ content }) => /\w\.txt/.exec(content)?.[0]).sort();

const otters = [
  ['a.txt', { kind: 'river otter', year: 2020, seen: '2026-01-05', tags: ['wild'] }],
  ['b.txt', { kind: 'sea otter', year: 2025, seen: '2026-06-01' }],
  ['c.txt', { kind: '', year: 2026 }],
] as const;

beforeAll(async () => {
  for (const [name, metadata] of otters)
    await user('keeper').ingestText(`The otter of ${name}.`, { metadata });
});

describe('Dify', () => {
  test('gets passages with metadata, of documents that the caller may read alone', async () => {
    const found = await dify(user('keeper'), { retrieval_setting: { top_k: 2, score_threshold: 0.1 } });
    expect(found.status).toBe(200);
    expect(found.body.records).toHaveLength(2);
    for (const { title, content, metadata } of found.body.records) {
      expect(content).toBe(title);
      expect(metadata).toMatchObject({
        document_id: expect.any(String),
        url: expect.stringContaining('/view/'),
      });
    }
    expect((await dify(user('stranger'))).body).toEqual({ records: [] });
    expect(titles(await dify(user('keeper'), { knowledge_id: 'own' }))).toHaveLength(3);
  });

  const hasParts = 'filter' in parseFilter({ kind: { $contains: 'otter' } });
  const ofParts: [string, string, unknown, string[]][] = [
    ['kind', 'contains', 'river', ['a.txt']],
    ['kind', 'not contains', 'river', ['b.txt', 'c.txt']],
    ['kind', 'start with', 'sea', ['b.txt']],
  ];
  const rows: [string, string, unknown, string[]][] = [
    ['kind', 'is', 'sea otter', ['b.txt']],
    ['kind', 'is not', 'sea otter', ['a.txt', 'c.txt']],
    ['kind', 'in', 'sea otter, river otter', ['a.txt', 'b.txt']],
    ['kind', 'not in', ['sea otter'], ['a.txt', 'c.txt']],
    ['kind', 'empty', null, ['c.txt']],
    ['tags', 'empty', '', ['b.txt', 'c.txt']],
    ['tags', 'not empty', undefined, ['a.txt']],
    ['year', 'is', '2025', ['b.txt']],
    ['year', '=', 2025, ['b.txt']],
    ['year', '≠', '2025', ['a.txt', 'c.txt']],
    ['year', '>', '2020', ['b.txt', 'c.txt']],
    ['year', '<', 2025, ['a.txt']],
    ['year', '≥', '2025', ['b.txt', 'c.txt']],
    ['year', '≤', '2025', ['a.txt', 'b.txt']],
    ['seen', 'before', '2026-03-01', ['a.txt']],
    ['seen', 'after', '2026-03-01', ['b.txt']],
    ['seen', 'after', 1_772_323_200, ['b.txt']],
    ...(hasParts ? ofParts : []),
  ];
  test.each(rows)('filters by %s %s %j', async (name, operator, value, expected) => {
    const conditions = [{ name: [name], comparison_operator: operator, value }];
    const found = await dify(user('keeper'), { metadata_condition: { logical_operator: 'and', conditions } });
    expect([found.status, titles(found)]).toEqual([200, expected]);
  });

  test('joins conditions, and the names of one', async () => {
    const conditions = [
      { name: ['kind', 'other'], comparison_operator: 'is', value: 'sea otter' },
      { name: 'year', comparison_operator: '=', value: '2026' },
    ];
    const asked = (logical_operator: string) =>
      dify(user('keeper'), { metadata_condition: { logical_operator, conditions } });
    expect(titles(await asked('or'))).toEqual(['b.txt', 'c.txt']);
    expect(titles(await asked('and'))).toEqual([]);
  });

  test('meets no 404, 403 or 502 when it registers with an empty body', async () => {
    const { authorization } = user('keeper');
    for (const body of [null, '', '{}']) {
      const headers = { authorization, 'content-type': 'application/json' };
      const response = await fetch(`${service.url}/dify/retrieval`, { method: 'POST', headers, body });
      expect([response.status, await response.json()]).toEqual([
        422,
        { error_code: 422, error_msg: expect.any(String) },
      ]);
    }
  });

  test('reads why it is refused by its own codes', async () => {
    const ask = async (authorization: string) => {
      const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) };
      const init = { method: 'POST', headers, body: JSON.stringify({ knowledge_id: 'all', query: 'x' }) };
      const response = await fetch(`${service.url}/dify/retrieval`, init);
      return [response.status, await response.json()];
    };
    expect(await ask('')).toMatchObject([401, { error_code: 1001 }]);
    expect(await ask('Basic eA==')).toMatchObject([401, { error_code: 1001 }]);
    expect(await ask('Bearer nonsense')).toMatchObject([401, { error_code: 1002 }]);
    expect(await ask(user('writer', ['write']).authorization)).toMatchObject([403, { error_code: 1002 }]);
    const unknown = await dify(user('keeper'), { knowledge_id: 'none' });
    expect([unknown.status, unknown.body.error_code]).toEqual([404, 2001]);
  });

  test.each([
    [{ comparison_operator: 'end with', value: 'x' }, 'comparison_operator'],
    [{ comparison_operator: '>', value: 'many' }, 'conditions[0]'],
    [{ comparison_operator: 'is', value: { a: 1 } }, 'value'],
  ])('is told which condition cannot be met: %j', async (condition, place) => {
    const conditions = [{ name: ['year'], ...condition }];
    const { status, body } = await dify(user('keeper'), { metadata_condition: { conditions } });
    expect([status, body]).toMatchObject([422, { error_msg: expect.stringContaining(place) }]);
  });
});

describe('Open WebUI', () => {
  const search = (client: Client, body: unknown) =>
    client.post<readonly { readonly link: string; readonly title: string }[]>('/open-webui/search', body);

  test('gets as many passages as it asks for, of documents that the caller may read alone', async () => {
    const found = await search(user('keeper'), { query: 'otter', count: 2 });
    expect(found.status).toBe(200);
    expect(found.body).toHaveLength(2);
    const [first] = found.body;
    expect(first).toEqual({
      link: expect.stringMatching(/^http.*\/view\/[\da-f-]{36}\?chunk=0$/),
      title: expect.stringMatching(/^The otter of/),
      snippet: first?.title,
    });
    expect((await search(user('stranger'), { query: 'otter', count: 5 })).body).toEqual([]);
    expect((await search(user('keeper'), { query: 'otter', count: 1_000 })).status).toBe(422);
  });
});
