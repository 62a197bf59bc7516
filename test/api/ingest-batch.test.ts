import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { jsonBody, makeToken, type ApiAnswer } from '../support/api.js';
import { inShort, outcomesOf } from '../support/batches.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { playFailure, playIngest } from '../support/play-worker.js';
import { until } from '../support/until.js';

let api: DocumentApi;
const token = makeToken();

beforeAll(async () => {
  api = await startDocumentApi({ waitSeconds: 20 });
});
afterAll(async () => {
  await api.close();
});
afterEach(async () => {
  for (const lane of ['ingestion-quick', 'ingestion-groups'] as const) await api.jobs.queue(lane).drain();
});

const ingest = (body: unknown, prefer = 'respond-async'): Promise<ApiAnswer> => {
  const init = typeof body === 'string' ? { method: 'POST', body } : jsonBody(body);
  const headers = { 'Content-Type': 'application/json', Prefer: prefer };
  return api.request('/ingest/batch', { ...init, headers, token });
};
/** The documents of the group whose job waits, the only one. */
async function queuedGroup(): Promise<readonly string[]> {
  const queue = api.jobs.queue('ingestion-groups');
  await until(async () => (await queue.getPrioritizedCount()) === 1);
  const [job] = await queue.getPrioritized();
  return (job?.data as { documentIds: string[] }).documentIds;
}
const texts = (count: number) => Array.from({ length: count }, (_, i) => ({ content: `text ${String(i)}` }));

describe('POST /ingest/batch with JSON', () => {
  test('answers one outcome for each text, in order, and stores what each of them says', async () => {
    const documents = [
      { content: 'first', metadata: { a: 1 }, filename: 'folder/x.txt', unknown: 1 },
      { content: 'second', access_control: { readers: ['bob'], writers: null } },
    ];
    const answer = await ingest({ documents, other: [[{}]] });
    expect(answer.status).toBe(202);
    expect(answer.headers.get('preference-applied')).toBe('respond-async');
    const outcomes = outcomesOf(answer.body);
    expect(outcomes.map(inShort)).toEqual([
      [0, 'queued'],
      [1, 'queued'],
    ]);
    const [first, second] = await Promise.all(
      outcomes.map(
        async ({ document_id: id = '' }) => (await api.request(`/documents/${id}`, { token })).body,
      ),
    );
    expect(first).toMatchObject({
      metadata: { a: 1 },
      filename: 'x.txt',
      access_control: { readers: ['alice'] },
    });
    expect(second).toMatchObject({
      metadata: {},
      filename: null,
      access_control: { readers: ['alice', 'bob'], writers: ['alice'], admins: ['alice'] },
      system_metadata: { status: 'queued', version: 1, size_bytes: 6 },
    });
  });

  test('gives each wrong item the error that it would get alone, and lets the others in', async () => {
    const wrong: [unknown, string[], string][] = [
      [{ content: ' ' }, ['body', 'content'], 'value_error.any_str.min_length'],
      [{}, ['body', 'content'], 'value_error.missing'],
      [{ content: null }, ['body', 'content'], 'type_error.none.not_allowed'],
      [{ content: 5 }, ['body', 'content'], 'type_error.str'],
      ['text', ['body'], 'type_error.dict'],
      [null, ['body'], 'type_error.none.not_allowed'],
      [{ content: 'a', metadata: [] }, ['body', 'metadata'], 'type_error.dict'],
      [{ content: 'a', metadata: { a: 'x'.repeat(20_000) } }, ['body', 'metadata'], 'value_error'],
      [{ content: 'a', metadata: { a: '\ud800' } }, ['body', 'metadata'], 'value_error.str.surrogate'],
      [
        { content: 'a', access_control: { readers: [7] } },
        ['body', 'access_control', 'readers'],
        'type_error.str',
      ],
      [
        { content: 'a', access_control: { readers: Array.from({ length: 1001 }, String) } },
        ['body', 'access_control', 'readers'],
        'value_error.list.max_items',
      ],
      [{ content: 'a', filename: 'x'.repeat(256) }, ['body', 'filename'], 'value_error.any_str.max_length'],
    ];
    const documents = wrong.flatMap(([item]) => [item, { content: 'good' }]);
    const outcomes = outcomesOf((await ingest({ documents })).body);
    expect(outcomes.map(({ index }) => index)).toEqual(documents.map((_, i) => i));
    for (const [i, [item, loc, type]] of wrong.entries()) {
      const [bad, good] = [outcomes[2 * i], outcomes[2 * i + 1]];
      expect(good).toMatchObject({ status: 'queued' });
      expect(bad).toMatchObject({ error: { type } });
      expect(bad?.error?.loc.slice(0, loc.length)).toEqual(loc);
      const alone = await api.request('/ingest/text', { ...jsonBody(item), token });
      expect(alone).toMatchObject({ status: 422, body: { detail: [bad?.error] } });
    }
  });

  test('stores items with readers of whom nothing is known yet, some of them the same', async () => {
    const crowd = (name: string) => Array.from({ length: 40 }, (_, i) => `${name}-${String(i)}`);
    const documents = ['red', 'blue', 'red', 'green'].map((name) => ({
      content: name,
      access_control: { readers: crowd(name) },
    }));
    const outcomes = outcomesOf((await ingest({ documents })).body);
    expect(outcomes.map(({ status }) => status)).toEqual(['queued', 'queued', 'queued', 'queued']);
    const reader = makeToken({ entity_id: 'red-39' });
    const statuses = outcomes.map(
      async ({ document_id: id = '' }) => (await api.request(`/documents/${id}`, { token: reader })).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 403, 200, 403]);
  });

  test('takes a thousand texts and no more', async () => {
    const most = await ingest({ documents: texts(1_000) });
    expect(most.status).toBe(202);
    expect(new Set(outcomesOf(most.body).map(({ document_id: id }) => id)).size).toBe(1_000);
    const before = await api.redis.get('quire:sequence');
    const tooMany = await ingest({ documents: texts(1_001) });
    expect(tooMany).toMatchObject({
      status: 422,
      body: {
        detail: [
          { loc: ['body', 'documents'], type: 'value_error.list.max_items', ctx: { limit_value: 1_000 } },
        ],
      },
    });
    expect(await api.redis.get('quire:sequence')).toBe(before);
  });

  test.each([
    ['no list', '{}', ['body', 'documents'], 'value_error.missing'],
    ['null', '{"documents": null}', ['body', 'documents'], 'type_error.none.not_allowed'],
    ['another type', '{"documents": {"a": []}}', ['body', 'documents'], 'type_error.list'],
    ['a list of its own', '[]', ['body'], 'type_error.dict'],
    ['nothing', '', ['body'], 'value_error.missing'],
    ['no JSON', 'documents', ['body'], 'value_error.jsondecode'],
    ['a list that does not end', '{"documents": [{"content": "a"}', ['body'], 'value_error.jsondecode'],
    ['a list with another end', '{"documents": [{"content": "a"}}', ['body'], 'value_error.jsondecode'],
    ['more after its end', '{"documents": []} {}', ['body'], 'value_error.jsondecode'],
    ['an element that is missing', '{"documents": [{"content": "a"},]}', ['body'], 'value_error.jsondecode'],
    ['a list in the wrong place', '{"a": {"documents": []}}', ['body', 'documents'], 'value_error.missing'],
  ])('refuses a body as a whole that holds %s', async (_, body, loc, type) => {
    const answer = await ingest(body);
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc, type }] } });
  });

  test.each([
    ['with escapes in the key', '{"d\\u006fcuments": [{"content": "a"}]}', ['queued']],
    [
      'with brackets in strings',
      '{"documents": [{"content": "]},{\\"[\\\\"}, {"content":"b"}]}',
      ['queued', 'queued'],
    ],
    ['of which the last list counts', '{"documents": [1, 2], "documents": [{"content": "a"}]}', ['queued']],
    [
      'with an item that is no JSON',
      '{"documents": [{"content": x}, {"content": "a"}]}',
      ['value_error.jsondecode', 'queued'],
    ],
    ['without any', '{"documents": [ ]}', []],
  ])('reads a list %s', async (_, body, expected) => {
    expect(
      outcomesOf((await ingest(body)).body)
        .map(inShort)
        .map(([, short]) => short),
    ).toEqual(expected);
  });

  test('waits for all of its documents, and answers 200 when they are done', async () => {
    const answering = ingest({ documents: texts(3) }, 'wait=60');
    const ids = await queuedGroup();
    expect(ids).toHaveLength(3);
    await playIngest(api, ids[2] ?? '', ['c']);
    await playFailure(api, ids[1] ?? '', 'too_large');
    await playIngest(api, ids[0] ?? '', ['a']);
    const answer = await answering;
    expect(answer.status).toBe(200);
    expect(answer.headers.get('preference-applied')).toBe('wait=60');
    expect(outcomesOf(answer.body).map(({ document_id: id }) => id)).toEqual(ids);
    expect(outcomesOf(answer.body).map(inShort)).toEqual([
      [0, 'completed'],
      [1, 'ingest_error.too_large'],
      [2, 'completed'],
    ]);
    expect(outcomesOf(answer.body)[1]).toMatchObject({ status: 'failed' });
  });

  test('has one deadline for all, and answers 202 with what is not done by then', async () => {
    const start = performance.now();
    const answering = ingest({ documents: texts(2) }, 'wait=2');
    const [first = ''] = await queuedGroup();
    await playIngest(api, first, ['a']);
    const answer = await answering;
    expect(performance.now() - start).toBeGreaterThan(1_900);
    expect(answer.status).toBe(202);
    expect(outcomesOf(answer.body).map(inShort)).toEqual([
      [0, 'completed'],
      [1, 'queued'],
    ]);
  });

  test('puts texts into groups of 32, a job for each, and gives what is not short jobs of its own', async () => {
    const documents = [...texts(66), { content: 'long '.repeat(4_000) }];
    expect((await ingest({ documents })).status).toBe(202);
    const groups = await api.jobs.queue('ingestion-groups').getPrioritized();
    const sizes = groups.map(({ data }) => (data as { documentIds: string[] }).documentIds.length);
    expect(sizes.sort()).toEqual([2, 32, 32]);
    expect(await api.jobs.queue('ingestion-quick').getPrioritizedCount()).toBe(1);
  });

  test('says of a document that was deleted meanwhile that it is gone', async () => {
    const answering = ingest({ documents: texts(1) }, 'wait=60');
    const queue = api.jobs.queue('ingestion-quick');
    await until(async () => (await queue.getPrioritizedCount()) === 1);
    const [job] = await queue.getPrioritized();
    const { documentId } = job?.data as { documentId: string };
    await api.request(`/documents/${documentId}`, { method: 'DELETE', token });
    const answer = await answering;
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual([
      { index: 0, error: { loc: ['body'], msg: 'Document not found', type: 'value_error' } },
    ]);
  });

  test('refuses other types of bodies, and callers that may not write', async () => {
    const init = { method: 'POST', body: 'a=b', token };
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    expect(await api.request('/ingest/batch', { ...init, headers: form })).toMatchObject({
      status: 415,
      body: { detail: 'Content-Type must be application/json or application/x-ndjson' },
    });
    const reader = makeToken({ permissions: ['read'] });
    const answer = await api.request('/ingest/batch', { ...jsonBody({ documents: [] }), token: reader });
    expect(answer.status).toBe(403);
  });
});
