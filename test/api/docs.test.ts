import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import {
  jsonInteger,
  nonBlankString,
  optionalNullOr,
  queryInteger,
} from '../../src/api/http/validation/field-schemas.js';
import { errorBody } from '../../src/api/http/response/declared-responses.js';
import { defineRoute } from '../../src/api/http/route.js';
import { createTokenRoutes } from '../../src/api/routes/tokens.js';
import { noQuotas } from '../support/no-quotas.js';
import { noReads, noRecent } from '../support/no-reads.js';
import { createUsageRoutes } from '../../src/api/routes/usage.js';
import { startApi, type ApiClient } from '../support/api.js';
import { unlimitedGuesses } from '../support/guesses.js';

const unused = () => Promise.reject(new Error('nobody asks'));
const thing = z.object({ id: z.string(), note: z.string().nullable() }).meta({ id: 'Thing' });
const routes = [
  defineRoute({
    method: 'put',
    path: '/things/{thing_id}',
    summary: 'Replace a thing',
    tag: 'Things',
    audit: null,
    permission: 'write',
    request: {
      path: z.object({ thing_id: z.string() }),
      query: z.object({ limit: queryInteger({ ge: 1, le: 100 }).optional() }),
      body: z.object({ query: nonBlankString({ max: 9 }), k: optionalNullOr(jsonInteger({ le: 1000 }), 4) }),
    },
    upload: { fields: z.object({ file: z.string().meta({ format: 'binary' }) }), alsoJson: true },
    responses: { 200: thing, 404: errorBody },
    handle: unused,
  }),
  ...createTokenRoutes({ makeUri: () => '', devMode: false, guesses: unlimitedGuesses, password: null }),
  ...createUsageRoutes({
    usage: { stats: () => Promise.resolve({}) },
    readRecent: noRecent,
    usageOfReads: noReads,
    ...noQuotas,
  }),
];

/** The parts of an OpenAPI page that the tests look at. */
interface Page {
  openapi: string;
  paths: Record<string, Record<string, Record<string, unknown>>>;
  components: { schemas: Record<string, unknown>; securitySchemes: Record<string, unknown> };
}

let api: ApiClient;
beforeAll(async () => {
  api = await startApi({ routes });
});
afterAll(() => api.close());

describe('/openapi.json', () => {
  let page: Page;
  beforeAll(async () => {
    page = (await api.request('/openapi.json')).body as Page;
  });

  test('is open, and OpenAPI 3.1 with bearer tokens', () => {
    expect(page.openapi).toBe('3.1.0');
    expect(page.components.securitySchemes).toEqual({
      bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    });
    expect(page.paths['/things/{thing_id}']?.['put']).toMatchObject({ security: [{ bearer: [] }] });
    expect(page.paths['/local/generate_uri']?.['post']).toMatchObject({ security: [{ bearer: [] }, {}] });
  });

  test('has parameters and bodies with the bounds that are checked', () => {
    const { parameters, requestBody } = page.paths['/things/{thing_id}']?.['put'] ?? {};
    expect(parameters).toMatchObject([
      { in: 'path', name: 'thing_id', required: true },
      { in: 'query', name: 'limit', schema: { type: 'integer', minimum: 1, maximum: 100 } },
    ]);
    expect(requestBody).toMatchObject({
      content: {
        'application/json': {
          schema: {
            required: ['query'],
            properties: { query: { type: 'string', minLength: 1, maxLength: 9 }, k: { default: 4 } },
          },
        },
        'multipart/form-data': { schema: { properties: { file: { type: 'string', format: 'binary' } } } },
      },
    });
  });

  test('has the forms that a route takes', () => {
    const { requestBody } = page.paths['/local/generate_uri']?.['post'] ?? {};
    expect(Object.keys((requestBody as { content: object }).content)).toEqual([
      'application/json',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
    ]);
  });

  test('has answers and errors, the list of a 422 included', () => {
    const { responses } = page.paths['/things/{thing_id}']?.['put'] ?? {};
    expect(Object.keys(responses as object)).toEqual([
      '200',
      '400',
      '401',
      '403',
      '404',
      '408',
      '413',
      '415',
      '422',
      '429',
      '500',
      '503',
    ]);
    const schemaOf = (name: string) => ({
      content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
    });
    expect(responses).toMatchObject({
      200: schemaOf('Thing'),
      401: schemaOf('Error'),
      422: schemaOf('ValidationError'),
    });
    expect(page.components.schemas['ValidationItem']).toMatchObject({
      properties: { loc: { type: 'array' }, msg: { type: 'string' }, type: { type: 'string' } },
    });
  });
});

describe('GET /', () => {
  test.each(['GET', 'HEAD'])('leads a newcomer to the page of the API (%s)', async (method) => {
    const { status, headers } = await api.request('/', { method });
    expect(status).toBe(302);
    expect(new URL(headers.get('location') ?? '', `${api.url}/`).href).toBe(`${api.url}/docs`);
    // Behind a proxy with a prefix, too.
    expect(new URL(headers.get('location') ?? '', 'http://host/quire/').pathname).toBe('/quire/docs');
  });

  test('is the only thing that can be done there', async () => {
    const { status, headers } = await api.request('/', { method: 'POST' });
    expect(status).toBe(405);
    expect(headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });
});

describe('/docs', () => {
  test('is a page, open, that runs only scripts of ours', async () => {
    const answer = await api.request('/docs');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^text\/html/);
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("connect-src 'self';");
    expect(policy).not.toContain('upgrade-insecure-requests');
  });

  test.each(['/docs', '/docs/'])('%s loads files of ours only, and they are there', async (place) => {
    const { text } = await api.request(place);
    const files = [...text.matchAll(/<(?:script|link)[^>]*(?:src|href)=["']([^"']+)["']/g)].map(
      ([, file]) => file ?? '',
    );
    expect(files.length).toBeGreaterThanOrEqual(4);
    for (const file of files) {
      const address = new URL(file, `${api.url}${place}`);
      expect(address.origin).toBe(api.url);
      const { status, text: content } = await api.request(address.pathname);
      expect([file, status]).toEqual([file, 200]);
      expect(content.length).toBeGreaterThan(100);
    }
    expect(text).not.toMatch(/<script>/);
  });

  test('has the whole OpenAPI page in it, and lets requests be tried with a token', async () => {
    const { text } = await api.request('/docs/swagger-ui-init.js');
    expect(text).toContain('/things/{thing_id}');
    expect(text).toContain('"validatorUrl": null');
    expect(text).toContain('"tryItOutEnabled": true');
    expect(text).toContain('"scheme": "bearer"');
  });

  test('has no other files', async () => {
    expect(await api.request('/docs/nothing.js')).toMatchObject({
      status: 404,
      body: { detail: expect.stringMatching(/^Not Found/) },
    });
    expect(await api.request('/docs/package.json')).toMatchObject({ status: 404 });
    expect(await api.request('/docs/..%2f..%2fpackage.json')).toMatchObject({ status: 404 });
  });
});
