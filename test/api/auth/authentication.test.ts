import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createAuthentication } from '../../../src/api/auth/authentication.js';
import { defineRoute } from '../../../src/api/http/route.js';
import { inSeconds, jsonBody, makeToken, SECRET, startApi, type ApiClient } from '../../support/api.js';
import { until } from '../../support/until.js';

const who = z.object({ id: z.string(), type: z.string(), permissions: z.array(z.string()) });

/** Routes that tell who asked. */
const routes = (['read', 'write', 'admin', 'open'] as const).map((permission) =>
  defineRoute({
    method: 'post',
    path: `/${permission}`,
    summary: permission,
    tag: 'Test',
    audit: null,
    permission,
    request: { body: z.object({ field: z.string() }) },
    responses: { 200: who },
    handle: ({ caller: { id, type, permissions } }, reply) =>
      Promise.resolve(reply.json(200, { id, type, permissions: [...permissions].sort() })),
  }),
);
const body = jsonBody({ field: 'x' });
const PREVIOUS = 'the secret before, also long enough to sign with';

describe('identity', () => {
  let api: ApiClient;
  beforeAll(async () => {
    const authenticate = createAuthentication({ secrets: [SECRET, PREVIOUS], devMode: false });
    api = await startApi({ routes, authenticate });
  });
  afterAll(() => api.close());

  const refused = { status: 401, body: { detail: 'Invalid authentication credentials' } };

  test('a token names its caller', async () => {
    const token = makeToken({ entity_id: 'bob', type: 'user', permissions: ['write', 'read'] });
    const answer = await api.request('/read', { ...body, token });
    expect(answer.body).toEqual({ id: 'bob', type: 'user', permissions: ['read', 'write'] });
  });

  test('permissions are ["read"] when the token names none', async () => {
    const token = makeToken({ permissions: undefined });
    expect((await api.request('/read', { ...body, token })).body).toMatchObject({ permissions: ['read'] });
    const answer = await api.request('/write', { ...body, token });
    expect(answer).toMatchObject({ status: 403, body: { detail: 'Insufficient permissions' } });
  });

  test('admin implies read and write', async () => {
    const token = makeToken({ permissions: ['admin'] });
    for (const path of ['/read', '/write', '/admin']) {
      expect((await api.request(path, { ...body, token })).body).toMatchObject({
        permissions: ['admin', 'read', 'write'],
      });
    }
  });

  test('write does not imply read', async () => {
    const token = makeToken({ permissions: ['write'] });
    expect(await api.request('/read', { ...body, token })).toMatchObject({ status: 403 });
  });

  test('entity_id wins over sub, and sub alone is enough', async () => {
    const both = makeToken({ entity_id: 'entity', sub: 'subject' });
    expect((await api.request('/read', { ...body, token: both })).body).toMatchObject({ id: 'entity' });
    const subject = makeToken({ entity_id: undefined, sub: 'subject' });
    expect((await api.request('/read', { ...body, token: subject })).body).toMatchObject({ id: 'subject' });
  });

  test('a token signed with the previous secret is accepted', async () => {
    const token = makeToken({}, { secret: PREVIOUS });
    expect(await api.request('/read', { ...body, token })).toMatchObject({ status: 200 });
  });

  test('a token is refused once it has expired, though it was accepted before', async () => {
    const token = makeToken({ exp: inSeconds(4) });
    expect(await api.request('/read', { ...body, token })).toMatchObject({ status: 200 });
    await until(async () => (await api.request('/read', { ...body, token })).status !== 200);
    expect(await api.request('/read', { ...body, token })).toMatchObject(refused);
  });

  test.each([
    ['expired', makeToken({ exp: inSeconds(-1) })],
    ['without exp', makeToken({ exp: undefined })],
    ['wrongly signed', makeToken({}, { secret: 'another secret that is long enough as well' })],
    ['malformed', 'not.a.token'],
    ['cut short', makeToken().slice(0, -3)],
    ['of an unknown type', makeToken({ type: 'robot' })],
    ['with an unknown permission', makeToken({ permissions: ['read', 'everything'] })],
    ['with permissions that are no list', makeToken({ permissions: 'read' })],
    ['without an id', makeToken({ entity_id: undefined })],
    ['with an empty id', makeToken({ entity_id: '' })],
    ['with an id that is no string', makeToken({ entity_id: 7 })],
    ['with half a surrogate pair in its id', makeToken({ entity_id: 'a\ud800' })],
    ['with half a surrogate pair in its sub', makeToken({ entity_id: undefined, sub: '\udc00' })],
    ['with an id of 257 characters', makeToken({ entity_id: '\u{1f600}'.repeat(257) })],
    ['with a payload that is no object', unsigned('HS256', '"text"')],
    [
      'without a signature (alg none)',
      unsigned('none', JSON.stringify({ entity_id: 'a', exp: inSeconds(60) })),
    ],
    ['signed with HS512', makeHs512()],
  ])('a token %s is refused', async (_, token) => {
    const answer = await api.request('/read', { ...body, token });
    expect(answer).toMatchObject(refused);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  test.each(['', 'Bearer', 'Bearer ', 'Basic YTpi', `Bearer ${'x'.repeat(5000)}`, `Token ${makeToken()}`])(
    'the header "%.20s" is refused',
    async (authorization) => {
      expect(
        await api.request('/read', {
          ...body,
          headers: { 'Content-Type': 'application/json', authorization },
        }),
      ).toMatchObject(refused);
    },
  );

  test('the scheme is written in any case', async () => {
    const authorization = `bearer ${makeToken()}`;
    const answer = await api.request('/read', {
      ...body,
      headers: { 'Content-Type': 'application/json', authorization },
    });
    expect(answer).toMatchObject({ status: 200 });
  });

  test.each([
    ['of the wrong type', { method: 'POST', body: 'x', headers: { 'Content-Type': 'text/plain' } }],
    ['that is no JSON', { method: 'POST', body: '{', headers: { 'Content-Type': 'application/json' } }],
    ['that fails validation', jsonBody({})],
    ['that is too large', jsonBody({ field: 'x'.repeat(9_000_000) })],
  ])('who asks is decided before a body %s', async (_, init) => {
    expect(await api.request('/read', init)).toMatchObject(refused);
    const token = makeToken({ permissions: ['read'] });
    expect(await api.request('/write', { ...init, token })).toMatchObject({ status: 403 });
  });

  test('an open route asks for no token', async () => {
    expect((await api.request('/open', body)).body).toMatchObject({ id: '', permissions: [] });
  });
});

describe('identity in dev mode', () => {
  let api: ApiClient;
  beforeAll(async () => {
    api = await startApi({ routes, devMode: true });
  });
  afterAll(() => api.close());

  const devUser = { id: 'dev_user', type: 'developer', permissions: ['admin', 'read', 'write'] };

  test('no header is needed: the caller is dev_user with all permissions', async () => {
    expect((await api.request('/admin', body)).body).toEqual(devUser);
  });

  test('a valid token is honoured', async () => {
    const token = makeToken({ entity_id: 'bob', permissions: ['read'] });
    expect((await api.request('/read', { ...body, token })).body).toMatchObject({ id: 'bob' });
    expect(await api.request('/write', { ...body, token })).toMatchObject({ status: 403 });
  });

  test('an invalid token is ignored', async () => {
    const token = makeToken({ exp: inSeconds(-10) });
    expect((await api.request('/read', { ...body, token })).body).toEqual(devUser);
  });
});

function unsigned(algorithm: string, payload: string): string {
  const part = (text: string) => Buffer.from(text).toString('base64url');
  return `${part(JSON.stringify({ alg: algorithm, typ: 'JWT' }))}.${part(payload)}.`;
}

function makeHs512(): string {
  return makeToken({}, { algorithm: 'HS512' as 'HS256' });
}
