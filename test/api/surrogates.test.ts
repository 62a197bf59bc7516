import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { bodyFilters, queryFilters } from '../../src/api/http/validation/search-fields.js';
import { nonBlankString, optionalNull } from '../../src/api/http/validation/field-schemas.js';
import { metadata, accessControl } from '../../src/api/http/validation/document-fields.js';
import { defineRoute } from '../../src/api/http/route.js';
import { createUploadFields } from '../../src/api/routes/ingest/upload-fields.js';
import { displayFilename } from '../../src/shared/document.js';
import { jsonBody, makeToken, startApi, type ApiClient } from '../support/api.js';

const HALF = '\ud800';
const EMOJI = '\u{1f600}';

const fields = {
  text: optionalNull(nonBlankString({ max: 9 })),
  metadata: optionalNull(metadata),
  access: optionalNull(accessControl),
  filters: bodyFilters,
};
const show = (value: unknown) =>
  Promise.resolve({ type: 'json', status: 200, body: { value: JSON.stringify(value) } } as const);
const common = {
  summary: 'x',
  tag: 'x',
  audit: null,
  permission: 'read',
  responses: { 200: z.unknown() },
} as const;

let api: ApiClient;
beforeAll(async () => {
  const routes = [
    defineRoute({
      ...common,
      method: 'post',
      path: '/fields',
      request: { body: z.object(fields) },
      handle: ({ body, caller }) => show({ ...body, caller: caller.id }),
    }),
    defineRoute({
      ...common,
      method: 'get',
      path: '/fields',
      request: { query: z.object({ filters: queryFilters }) },
      handle: ({ query }) => show(query.filters.json),
    }),
  ];
  api = await startApi({ routes });
});
afterAll(() => api.close());

const post = (body: unknown) => api.request('/fields', { ...jsonBody(body), token: makeToken() });
const refused = (...loc: (string | number)[]) => ({
  status: 422,
  body: {
    detail: [{ loc, msg: 'string holds half of a surrogate pair', type: 'value_error.str.surrogate' }],
  },
});

describe('half a surrogate pair', () => {
  test.each([
    ['a value of metadata', { metadata: { a: [`x${HALF}`] } }, ['body', 'metadata']],
    ['a key of metadata', { metadata: { a: { [HALF]: 1 } } }, ['body', 'metadata']],
    ['an id of an access list', { access: { readers: ['bob', HALF] } }, ['body', 'access', 'readers', 1]],
    ['a value of a filter', { filters: { a: { $in: ['b', HALF] } } }, ['body', 'filters']],
    ['a key of a filter', { filters: { $and: [{ [`a${HALF}`]: 1 }] } }, ['body', 'filters']],
  ])('is refused in %s, which is compared', async (_name, body, loc) => {
    expect(await post(body)).toMatchObject(refused(...loc));
  });

  test.each([String.raw`{"a": "\ud800"}`, String.raw`{'a': '\ud800'}`])(
    'is refused in a filter of a query string: %s',
    async (filter) => {
      const path = `/fields?filters=${encodeURIComponent(filter)}`;
      expect(await api.request(path, { token: makeToken() })).toMatchObject(refused('query', 'filters'));
    },
  );

  test('is refused in the fields beside an uploaded file', () => {
    const take = (name: string, value: unknown) => {
      createUploadFields().take(name, JSON.stringify(value));
    };
    for (const [name, value] of [
      ['metadata', { a: HALF }],
      ['access_control', { admins: [HALF] }],
    ] as const) {
      expect(() => {
        take(name, value);
      }).toThrow(/half of a surrogate pair/);
    }
  });

  test('is replaced in a text, and in a file name, which are only shown and searched', async () => {
    const { status, body } = await post({ text: `a${HALF}b` });
    expect([status, body]).toEqual([200, { value: expect.stringContaining('a\ufffdb') }]);
    expect(displayFilename(`a${HALF}.txt`)).toBe('a\ufffd.txt');
  });

  test('whole pairs pass everywhere, and count as one character', async () => {
    const id = EMOJI.repeat(256);
    const body = { text: EMOJI.repeat(9), metadata: { [EMOJI]: EMOJI }, access: { readers: [id] } };
    const answer = await api.request('/fields', { ...jsonBody(body), token: makeToken({ entity_id: id }) });
    expect(answer.status).toBe(200);
    expect(await post({ access: { readers: [id + EMOJI] } })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'access', 'readers', 0], type: 'value_error.any_str.max_length' }] },
    });
  });
});
