import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { COLLECTION_ID } from '../../src/api/routes/examples/collections.js';
import { cursorWithin } from '../../src/api/routes/examples/documents.js';
import { allRoutes } from '../support/all-routes.js';
import { createCheckResponse } from '../support/check-response.js';
import { createClient } from '../support/client.js';
import { expectation } from '../support/example-expectation.js';
import { GUARDED } from '../support/shared/environments.js';
import {
  encodeExample,
  exampledPage,
  isJsonType,
  NDJSON,
  shownBodies,
  type ExampledOperation as Operation,
} from '../support/openapi-page.js';
import { learned, tokenOf } from '../support/learned-values.js';
import { until } from '../support/until.js';
import { useService } from '../support/shared/use-service.js';

/** All operations, in an order in which the story of the examples can be told. */
const story = [
  'GET /health',
  'GET /health/ready',
  'GET /health/serving',
  'POST /local/generate_uri',
  'POST /ingest/text',
  'POST /ingest/file',
  'POST /collections',
  'POST /collections/{collection_id}/documents',
  'GET /collections',
  'GET /collections/{collection_id}',
  'GET /documents',
  'POST /documents/lookup',
  'POST /documents/facets',
  'GET /documents/{document_id}',
  'GET /documents/{document_id}/status',
  'GET /documents/{document_id}/chunks',
  'GET /documents/{document_id}/extraction',
  'POST /dify/retrieval',
  'POST /open-webui/search',
  'POST /retrieve/explain',
  'POST /retrieve/chunks',
  'POST /retrieve/docs',
  'POST /query',
  'POST /v1/chat/completions',
  'POST /v1/responses',
  'GET /documents/{document_id}/download',
  'GET /downloads/{document_id}',
  'PATCH /collections/{collection_id}',
  'PUT /collections/{collection_id}/documents/{document_id}',
  'DELETE /collections/{collection_id}/documents/{document_id}',
  'DELETE /collections/{collection_id}',
  'POST /cache/create',
  'GET /cache/{name}',
  'GET /caches',
  'POST /cache/{name}/add_docs',
  'POST /cache/{name}/update',
  'POST /cache/{name}/query',
  'DELETE /cache/{name}',
  'PATCH /documents/{document_id}',
  'POST /documents/{document_id}/accept',
  'GET /sharing',
  'PUT /sharing/blocked/{owner}',
  'DELETE /sharing/blocked/{owner}',
  'PUT /sharing/accepted/{owner}',
  'DELETE /sharing/accepted/{owner}',
  'PUT /documents/{document_id}/content',
  'POST /documents/{document_id}/retry',
  'POST /documents/{document_id}/cancel',
  'GET /usage/stats',
  'GET /usage/quota',
  'GET /usage/recent',
  'GET /v1/models',
  'GET /v1/models/{model}',
  'POST /v1/embeddings',
  'DELETE /documents/{document_id}',
  'POST /ingest/batch',
  'POST /ingest/files',
  'POST /mcp',
];

/** The same for the requests that pages fill in, each with the least that it needs. */
const plainStory = [
  'POST /documents/facets',
  'POST /ingest/text',
  'POST /ingest/file',
  'POST /ingest/batch',
  'POST /ingest/files',
  'POST /collections',
  'POST /collections/{collection_id}/documents',
  'PATCH /collections/{collection_id}',
  'PATCH /documents/{document_id}',
  'PUT /documents/{document_id}/content',
  'POST /retrieve/chunks',
  'POST /retrieve/docs',
  'POST /retrieve/explain',
  'POST /query',
  'POST /cache/create',
  'POST /cache/{name}/query',
  'POST /v1/chat/completions',
  'POST /v1/responses',
  'POST /v1/embeddings',
  'POST /dify/retrieval',
  'POST /open-webui/search',
];

/** The operations that need a file whose bytes no example can show, a second person, or a reranker. */
const untold = [
  'GET /documents/{document_id}/pages/{page}.png',
  'POST /documents/{document_id}/leave',
  'POST /v2/rerank',
];

/** Their answers are of another moment, or of other settings, than those of the story, so that only their schemas hold. */
const otherwise = new Set([
  'GET /health/ready',
  'POST /documents/{document_id}/cancel',
  'GET /usage/stats',
  'GET /usage/quota',
  // A vector is longer than a page can show.
  'POST /v1/embeddings',
]);

interface Request {
  /** The name of its operation. */
  readonly name: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly method: string;
  readonly type: string | null;
  readonly body: unknown;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  /** As JSON, or the text itself where it is none. */
  readonly body: unknown;
}

/** The values of the examples that only the running service knows, such as ids. */
const actualOf = new Map<string, string>();
const translate = (text: string, pairs: Iterable<readonly [string, string]>): string =>
  [...pairs].reduce((all, [from, to]) => all.replaceAll(from, to), text);
const toActual = (text: string) => translate(text, actualOf);
const toExample = (text: string) =>
  translate(
    text,
    [...actualOf].map(([example, actual]) => [actual, example] as const),
  );

const service = useService({ env: { ...GUARDED, QUIRE_AUDIT_LOG: 'true' } });
/** The requests that were sent, and what each was answered, by their ids. */
const sent = new Map<string, { readonly name: string; readonly status: number }>();
let operations: ReadonlyMap<string, Operation>;
let token = '';
const routes = allRoutes();
const check = createCheckResponse(routes);

beforeAll(async () => {
  const page: unknown = await (await fetch(`${service.url}/openapi.json`)).json();
  operations = new Map(
    Object.entries(exampledPage.parse(page).paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation]),
    ),
  );
  actualOf.set('127.0.0.1:8000', new URL(service.url).host);
  token = createClient(service.url, 'admin', ['read', 'write', 'admin']).authorization;
}, 60_000);

describe('the examples of the OpenAPI page', () => {
  test('are of every operation', () => {
    expect([...story, ...untold].sort()).toEqual([...operations.keys()].sort());
  });

  test.each(story)('%s: its request succeeds and is answered as the page shows', async (name) => {
    const operation = operationOf(name);
    const requests = requestsOf(name, operation);
    for (const [number, request] of requests.entries()) {
      const answer = await send(request);
      expect({ status: answer.status, text: answer.status === 200 ? '' : answer.text }).toEqual({
        status: 200,
        text: '',
      });
      const example = exampleOf(operation, 200);
      learn(example, answer.body);
      // The answer belongs to the first of several ways to ask, such as a text or a file.
      if (number === 0 && !otherwise.has(name)) expect(inStory(answer)).toEqual(expectation(example));
      if (eventsOf(operation).length > 0) await expectEvents(request, operation);
      if (Object.keys(request.headers).length > 0) expect((await send(request)).body).toEqual(answer.body);
    }
  });

  test.each(['POST /ingest/text', 'POST /ingest/file', 'POST /ingest/batch', 'POST /ingest/files'])(
    '%s: its request is answered with the 202 that the page shows, where nobody waits',
    async (name) => {
      const operation = operationOf(name);
      const [request] = requestsOf(name, operation);
      if (!request) throw new Error('no request');
      // Its key would be answered with the first answer again.
      const answer = await send({ ...request, headers: {} }, { Prefer: 'respond-async' });
      expect(answer.status).toBe(202);
      learn(exampleOf(operation, 202), answer.body);
      expect(inStory(answer)).toEqual(expectation(exampleOf(operation, 202)));
    },
  );
});

describe('the requests that pages fill in', () => {
  test('are of every operation whose other example says more', () => {
    const withPlain = [...operations].filter(([, each]) => shownBodies(each).plain.length > 0);
    expect(withPlain.map(([name]) => name).sort()).toEqual([...plainStory].sort());
  });

  test.each(plainStory)('%s: it succeeds', async (name) => {
    const operation = operationOf(name);
    for (const request of plainRequestsOf(name, operation)) {
      const { status, text, body } = await send(request);
      expect({ status, text: status === 200 ? '' : text }).toEqual({ status: 200, text: '' });
      // The documents and the collection of the story are gone by now; these take their places.
      if (name.startsWith('POST /ingest/') || name === 'POST /collections')
        relearn(exampleOf(operation, 200), body);
    }
  });
});

describe('the audit log', () => {
  test('has exactly one line of each of these requests, with the action of its route and its status', async () => {
    const folder = join(service.dataDirectory, 'audit');
    const readLines = async () => {
      const files = await readdir(folder);
      const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
      const lines = texts.flatMap((text) => text.split('\n').filter((line) => line !== ''));
      return lines.map((line) => auditLine.parse(JSON.parse(line))).filter(({ type }) => type === 'request');
    };
    const expected = [...sent].flatMap(([request, { name, status }]) => {
      const route = routes.find(({ method, path }) => `${method.toUpperCase()} ${path}` === name);
      return route?.audit == null ? [] : [{ type: 'request', request, action: route.audit, status }];
    });
    const ours = async () => (await readLines()).filter(({ request = '' }) => sent.has(request));
    await until(async () => (await ours()).length >= expected.length);
    const order = (a: { request?: string | undefined }, b: { request?: string | undefined }) =>
      (a.request ?? '').localeCompare(b.request ?? '');
    expect((await ours()).sort(order)).toEqual(expected.sort(order));
    expect(expected.length).toBeGreaterThan(story.length);
  });
});

const auditLine = z.object({
  type: z.string(),
  request: z.string().optional(),
  action: z.string(),
  status: z.number().optional(),
});

function operationOf(name: string): Operation {
  const operation = operations.get(name);
  if (!operation) throw new Error(`the page has no ${name}`);
  return operation;
}

/** The server-sent events that the page shows as an answer, if there are any, without that of an answer that fails. */
const eventsOf = ({ responses }: Operation) =>
  Object.values(responses[200]?.content['text/event-stream']?.examples ?? {})
    .filter(({ value }) => value.event === undefined)
    .map(({ value }) => value.data);

/** The same request, for an answer piece by piece. */
async function expectEvents(request: Request, operation: Operation): Promise<void> {
  const body = { ...z.record(z.string(), z.unknown()).parse(request.body), stream: true };
  const { status, text } = await send({ ...request, body });
  expect(status).toBe(200);
  const lines = toExample(text).matchAll(/^data: (.*)$/gm);
  const sent = [...lines]
    .filter(([, data]) => data !== '[DONE]')
    .map(([, data = '']) => JSON.parse(data) as unknown);
  for (const shown of eventsOf(operation)) expect(sent).toContainEqual(expectation(JSON.parse(shown)));
}

const exampleOf = ({ responses }: Operation, status: number): unknown =>
  Object.values(responses[status]?.content ?? {})[0]?.example;

/** One request for each type of body that an operation takes, with the values of its examples. */
function requestsOf(name: string, operation: Operation): Request[] {
  const [method = '', pattern = ''] = name.split(' ');
  const { parameters } = operation;
  const values = new Map(
    parameters.map((each) => [each.name, String(each.example ?? each.schema.examples?.[0])]),
  );
  const path = pattern.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => values.get(parameter) ?? '');
  const bodies = shownBodies(operation).whole;
  // The query string only stands in for fields of a body where there is one.
  const asked = parameters.filter((each) => each.in === 'query' && bodies.length === 0);
  const query = asked.map((each) => [each.name, values.get(each.name) ?? ''] as const);
  const address =
    query.length === 0 ? path : `${path}?${new URLSearchParams(Object.fromEntries(query)).toString()}`;
  const stated = parameters.filter((each) => each.in === 'header');
  const headers = stated.map((each) => [each.name, values.get(each.name) ?? ''] as const);
  return bodies.length === 0
    ? [{ name, method, path: address, headers: Object.fromEntries(headers), type: null, body: undefined }]
    : bodies.map(({ type, body }, number) => ({
        name,
        method,
        path: address,
        // A key is good for one of them.
        headers: Object.fromEntries(
          headers.map(([key, value]) => [key, number === 0 ? value : `${value}-${type}`]),
        ),
        type,
        body,
      }));
}

/** The requests as pages fill them in: without a header, and with the body that says least. */
function plainRequestsOf(name: string, operation: Operation): Request[] {
  const [first] = requestsOf(name, operation);
  if (!first) throw new Error('no request');
  return shownBodies(operation).plain.map((body) => ({ ...first, headers: {}, ...body }));
}

async function send(
  { name, method, path, headers: stated, type, body }: Request,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const actualPath = toActual(path);
  const id = randomUUID();
  const response = await fetch(service.url + actualPath, {
    method,
    headers: {
      Authorization: token,
      'X-Request-Id': id,
      ...stated,
      ...(type !== null && (isJsonType(type) || type === NDJSON) ? { 'Content-Type': type } : {}),
      ...headers,
    },
    body: body === undefined ? null : encodeExample(type, JSON.parse(toActual(JSON.stringify(body)))),
  });
  const text = await response.text();
  sent.set(id, { name, status: response.status });
  check({ method, path: actualPath, status: response.status, headers: response.headers, text });
  const isJson = response.headers.get('content-type') === 'application/json';
  return { status: response.status, text, body: isJson ? (JSON.parse(text) as unknown) : text };
}

/** Remembers what an answer holds where the example has an id, a token, or a signed address. */
function learn(example: unknown, actual: unknown): void {
  const [before, now] = [learned.safeParse(example).data, learned.safeParse(actual).data];
  if (!before || !now) return;
  for (const [place, value] of before.entries()) {
    const found = now[place] ?? '';
    if (value === found) continue;
    actualOf.set(value, found);
    // A cursor names the collection of its list by a digest.
    if (value === COLLECTION_ID) actualOf.set(cursorWithin(value), cursorWithin(found));
  }
  // From here on Alice uses the token that she was given.
  const uri = z.object({ uri: z.string() }).safeParse(actual).data?.uri;
  if (uri !== undefined) token = `Bearer ${tokenOf(uri)}`;
}

/** Takes another document for one of the examples. */
function relearn(example: unknown, actual: unknown): void {
  for (const id of learned.parse(example)) actualOf.delete(id);
  learn(example, actual);
}

const inStory = ({ body }: Answer): unknown => JSON.parse(toExample(JSON.stringify(body)));
