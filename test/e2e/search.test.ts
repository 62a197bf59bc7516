import { describe, expect, test } from '@jest/globals';
import type { Client } from '../support/client.js';
import { EVERYDAY } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';

const service = useService({ env: EVERYDAY });

const user = service.client;

async function ingest(client: Client, content: string, more: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await client.ingestText(content, more);
  expect(status).toBe(200);
  return body.external_id;
}

async function ingestFile(client: Client, content: string, filename: string): Promise<string> {
  const { status, body } = await client.ingestFile(Buffer.from(content), filename);
  expect(status).toBe(200);
  return body.external_id;
}

async function chunksOf(client: Client, query: string, more: Record<string, unknown> = {}) {
  const { status, body } = await client.searchChunks(query, more);
  expect(status).toBe(200);
  return body;
}

interface DocumentResult {
  readonly score: number;
  readonly document_id: string;
  readonly content: { readonly type: string; readonly value: string; readonly filename: string | null };
}

async function documentsOf(client: Client, query: string, more: Record<string, unknown> = {}) {
  const { status, body } = await client.post<DocumentResult[]>('/retrieve/docs', { query, ...more });
  expect(status).toBe(200);
  return body;
}

const idsOf = (results: readonly { document_id: string }[]) => results.map(({ document_id: id }) => id);
const scoresOf = (results: readonly { score: number }[]) => results.map(({ score }) => score);
const descending = (numbers: readonly number[]) => [...numbers].sort((a, b) => b - a);

describe('/retrieve/chunks', () => {
  test('answers every field of a chunk, of a text and of a file', async () => {
    const client = user('fields');
    const metadata = { title: 'Rivers', tags: ['water', 2], nested: { deep: null } };
    const id = await ingest(client, 'The river carries silt.', { metadata, filename: 'rivers.txt' });
    expect(await chunksOf(client, 'silt')).toEqual([
      {
        content: 'The river carries silt.',
        score: expect.any(Number),
        document_id: id,
        owner: service.caller('fields'),
        chunk_number: 0,
        location: { lines: { first: 1, last: 1 } },
        section: [],
        metadata,
        content_type: 'text/plain',
        filename: null,
        download_url: null,
        url: `${service.url}/view/${id}?chunk=0`,
        page_url: null,
      },
    ]);
    const file = await ingestFile(client, '# Dams\n\nThe dam holds back gravel.', 'dams.md');
    expect(await chunksOf(client, 'gravel', { k: 1 })).toEqual([
      {
        content: expect.stringContaining('gravel'),
        score: expect.any(Number),
        document_id: file,
        owner: service.caller('fields'),
        chunk_number: 0,
        location: { lines: { first: 1, last: 3 } },
        section: ['Dams'],
        metadata: {},
        content_type: 'text/markdown',
        filename: 'dams.md',
        download_url: expect.stringMatching(`^${service.url}/`),
        url: `${service.url}/view/${file}?chunk=0`,
        page_url: null,
      },
    ]);
  });

  test('ranks by a score in [0, 1] that min_score is held against; k is 4 unless said', async () => {
    const client = user('ranked');
    const texts = [
      'Otters eat crabs.',
      'Otters eat fish and crabs in winter.',
      'Crabs walk sideways along the beach.',
      'Herons eat frogs.',
      'Trains leave at noon.',
      'Nothing of the kind is in here.',
    ];
    for (const text of texts) await ingest(client, text);
    expect(await chunksOf(client, 'otters eat crabs')).toHaveLength(4);
    const all = await chunksOf(client, 'otters eat crabs', { k: 1000 });
    expect(all).toHaveLength(texts.length);
    expect(all[0]?.content).toBe(texts[0]);
    expect(scoresOf(all)).toEqual(descending(scoresOf(all)));
    expect(scoresOf(all).every((score) => score >= 0 && score <= 1)).toBe(true);
    // A chunk that shares nothing with the query has score 0, and is returned at min_score 0 only.
    expect(scoresOf(all).filter((score) => score === 0)).toHaveLength(2);
    expect(await chunksOf(client, 'otters eat crabs', { k: 1000, min_score: 1e-9 })).toHaveLength(4);
    const edge = all[1]?.score ?? 0;
    expect(await chunksOf(client, 'otters eat crabs', { min_score: edge })).toEqual(all.slice(0, 2));
    expect(await chunksOf(client, 'otters eat crabs', { min_score: edge + 1e-9 })).toEqual(all.slice(0, 1));
    expect(await chunksOf(client, 'otters eat crabs', { min_score: 1 })).toEqual([]);
    for (const k of [1, 2, 3])
      expect(await chunksOf(client, 'otters eat crabs', { k })).toEqual(all.slice(0, k));
    expect(await chunksOf(user('ranked-nobody'), 'otters')).toEqual([]);
  });

  test('breaks ties by document, then chunk number; the same question has the same answer', async () => {
    const client = user('tied');
    const sentence = 'The bell rings at dawn and at dusk over the quiet town.';
    const page = Array.from({ length: 128 }, () => sentence).join(' ');
    await Promise.all(Array.from({ length: 6 }, () => ingest(client, page)));
    const found = await chunksOf(client, 'bell', { k: 1000 });
    const keys = found.map(({ score, document_id: id, chunk_number: n }) => [score, id, n] as const);
    const sorted = [...keys].sort(([a, b, c], [x, y, z]) => x - a || (b < y ? -1 : b > y ? 1 : 0) || c - z);
    expect(keys).toEqual(sorted);
    expect(new Set(scoresOf(found)).size).toBeLessThan(found.length / 3);
    for (let n = 0; n < 3; n += 1) expect(await chunksOf(client, 'bell', { k: 1000 })).toEqual(found);
    expect(await chunksOf(client, 'bell', { k: 7 })).toEqual(found.slice(0, 7));
  });

  test('never takes the terms of strangers into a score', async () => {
    const [client, stranger] = [user('private'), user('private-stranger')];
    await ingest(client, 'The marmot whistles above the meadow.');
    await ingest(client, 'The meadow is mown in June.');
    const before = await chunksOf(client, 'marmot meadow');
    for (let n = 0; n < 8; n += 1) await ingest(stranger, `Marmot ${String(n)} meets marmot and marmot.`);
    expect(await chunksOf(client, 'marmot meadow')).toEqual(before);
    // Nor do the better fitting chunks of others take places of the caller's.
    expect(await chunksOf(client, 'marmot', { k: 2 })).toHaveLength(2);
    // A document that is shared with the caller is found, and moves no score of their own.
    await ingest(stranger, 'Shared: a marmot.', { access_control: { readers: [service.caller('private')] } });
    const after = await chunksOf(client, 'marmot meadow');
    expect(after).toHaveLength(3);
    expect(after.filter(({ content }) => !content.startsWith('Shared'))).toEqual(before);
  });

  test('is checked: bounds, types, blanks; null counts as absent and unknown fields are ignored', async () => {
    const client = user('validated');
    await ingest(client, 'Something to be found.');
    for (const [name, value, type] of [
      ['k', 0, 'value_error.number.not_ge'],
      ['k', 1001, 'value_error.number.not_le'],
      ['k', 2.5, 'type_error.integer'],
      ['k', '4', 'type_error.integer'],
      ['k', true, 'type_error.integer'],
      ['min_score', -0.1, 'value_error.number.not_ge'],
      ['min_score', 1.1, 'value_error.number.not_le'],
      ['min_score', '0', 'type_error.float'],
      ['query', ' \n\t', 'value_error.any_str.min_length'],
      ['query', 'q'.repeat(32_769), 'value_error.any_str.max_length'],
      ['query', 7, 'type_error.str'],
      ['query', null, 'type_error.none.not_allowed'],
      ['query', undefined, 'value_error.missing'],
      ['filters', 'all', 'type_error.dict'],
      ['filters', [], 'type_error.dict'],
    ] as const) {
      for (const path of ['/retrieve/chunks', '/retrieve/docs', '/query']) {
        const reply = await client.post(path, { query: 'Well?', [name]: value });
        expect([path, name, value, reply]).toMatchObject([
          path,
          name,
          value,
          { status: 422, body: { detail: [{ loc: ['body', name], type }] } },
        ]);
      }
    }
    const nothing = { filters: null, k: null, min_score: null };
    const ignored = { use_reranking: true, rules: [{ type: 'x' }], folder_name: 7 };
    for (const path of ['/retrieve/chunks', '/retrieve/docs', '/query']) {
      const more = { max_tokens: null, temperature: null, ...nothing, ...ignored };
      expect((await client.post(path, { query: 'something', ...more })).status).toBe(200);
    }
    expect(await chunksOf(client, 'q'.repeat(32_768))).toHaveLength(1);
    expect(await chunksOf(client, '\ud800 <|endoftext|> \u0000 \u202e')).toHaveLength(1);
    expect(await chunksOf(client, 'found', { k: 4, min_score: 0 })).toHaveLength(1);
  });
});

describe('/retrieve/docs', () => {
  test('answers at most k documents, best first, each by its best chunk, a text as a whole', async () => {
    const client = user('whole');
    const filler = Array.from({ length: 480 }, (_, i) => `Paragraph ${String(i)} is about something else.`);
    const long = [...filler.slice(0, 240), 'The zeppelin lands.', ...filler.slice(240)].join(' ');
    const first = await ingest(client, long, { metadata: { n: 1 }, filename: 'long.txt' });
    const second = await ingest(client, 'A zeppelin.\nIt lands, now and then, on the zeppelin field.');
    const third = await ingest(client, 'Only trains here.');
    const best = await chunksOf(client, 'zeppelin lands', { k: 1000 });
    const found = await documentsOf(client, 'zeppelin lands', { k: 3 });
    expect(new Set(idsOf(found))).toEqual(new Set([first, second, third]));
    expect(scoresOf(found)).toEqual(descending(scoresOf(found)));
    for (const { document_id: id, score } of found) {
      expect(score).toBe(Math.max(...scoresOf(best.filter((chunk) => chunk.document_id === id))));
    }
    const bestOfFirst = best.find(({ document_id: id }) => id === first);
    expect(found.find(({ document_id: id }) => id === first)).toEqual({
      score: expect.any(Number),
      document_id: first,
      owner: expect.any(String),
      metadata: { n: 1 },
      url: `${service.url}/view/${first}?chunk=${String(bestOfFirst?.chunk_number)}`,
      additional_metadata: {},
      content: { type: 'string', value: long, filename: null },
    });
    expect(await documentsOf(client, 'zeppelin lands', { k: 2 })).toEqual(found.slice(0, 2));
    expect(await documentsOf(client, 'zeppelin lands', { k: 3, min_score: 1e-9 })).toEqual(found.slice(0, 2));
    expect(await documentsOf(client, 'zeppelin lands', { filters: { n: 1 } })).toHaveLength(1);
  });

  test('answers a file by its address, which works without a header, for as long as it may be read', async () => {
    const [client, reader] = [user('files'), user('files-reader')];
    const id = await ingestFile(client, 'Minutes of the meeting: the roof leaks.', 'minutes.txt');
    const shared = { access_control: { readers: [service.caller('files-reader')] } };
    expect((await client.patch(`/documents/${id}`, shared)).status).toBe(200);
    const [found] = await documentsOf(reader, 'roof');
    expect(found).toEqual({
      score: expect.any(Number),
      document_id: id,
      owner: service.caller('files'),
      metadata: {},
      url: `${service.url}/view/${id}?chunk=0`,
      additional_metadata: {},
      content: { type: 'url', value: expect.stringMatching(/^http/), filename: 'minutes.txt' },
    });
    const url = found?.content.value ?? '';
    const [chunk] = await chunksOf(reader, 'roof');
    const addresses = [url, chunk?.download_url ?? ''];
    const downloads = () => Promise.all(addresses.map((address) => fetch(address)));
    for (const response of await downloads()) {
      expect(response.status).toBe(200);
      expect(await response.text()).toBe('Minutes of the meeting: the roof leaks.');
      expect(response.headers.get('content-disposition')).toContain('minutes.txt');
    }
    const other = await ingestFile(client, 'Another file.', 'other.txt');
    for (const tampered of [
      url.replace(id, other),
      url.replace(`caller=${service.caller('files-reader')}`, `caller=${service.caller('files')}`),
      url.replace(/expires=\d/, 'expires=9'),
      url.replace(/signature=(.)/, (_, first) => `signature=${first === '_' ? '-' : '_'}`),
    ]) {
      expect(tampered).not.toBe(url);
      const response = await fetch(tampered);
      expect(response.status).toBe(403);
      expect(await response.json()).toEqual({ detail: expect.any(String) });
    }
    expect((await client.patch(`/documents/${id}`, { access_control: { readers: [] } })).status).toBe(200);
    for (const response of await downloads()) expect(response.status).toBe(403);
  });
});
