import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import jsonwebtoken from 'jsonwebtoken';
import { createTokenRoutes } from '../../src/api/routes/tokens.js';
import { noQuotas } from '../support/no-quotas.js';
import { noReads, noRecent } from '../support/no-reads.js';
import { createUsageRoutes } from '../../src/api/routes/usage.js';
import { createTokenUri } from '../../src/api/services/token-uri.js';
import { jsonBody, makeToken, SECRET, startApi, type ApiAnswer, type ApiClient } from '../support/api.js';
import { unlimitedGuesses } from '../support/guesses.js';

const PASSWORD = 'open sesame, and close again';

function start({
  devMode = false,
  password = null as string | null,
  host = '',
  port = 0,
} = {}): Promise<ApiClient> {
  const guesses = unlimitedGuesses;
  const makeUri = createTokenUri({ secret: SECRET, scheme: 'databridge', host, port });
  const usage = { stats: () => Promise.resolve({}) };
  const routes = [
    ...createTokenRoutes({ makeUri, devMode, guesses, password }),
    ...createUsageRoutes({ usage, readRecent: noRecent, usageOfReads: noReads, ...noQuotas }),
  ];
  return startApi({ routes, devMode });
}

const form = (fields: Record<string, string>) => ({ method: 'POST', body: new URLSearchParams(fields) });
const post = { method: 'POST' };

function partsOf({ status, body }: ApiAnswer) {
  expect(status).toBe(200);
  const { uri } = body as { uri: string };
  const [, scheme, name, token = '', address] = /^(.+):\/\/(.+):(.+)@(.+)$/.exec(uri) ?? [];
  const claims = jsonwebtoken.verify(token, SECRET, { algorithms: ['HS256'] }) as jsonwebtoken.JwtPayload;
  return { scheme, name, token, address, claims };
}

describe('/local/generate_uri in dev mode', () => {
  let api: ApiClient;
  beforeAll(async () => {
    api = await start({ devMode: true });
  });
  afterAll(() => api.close());
  const ask = async (init: RequestInit) => partsOf(await api.request('/local/generate_uri', init));

  test('is open and makes <scheme>://<name>:<jwt>@<host>:<port>', async () => {
    const { scheme, name, token, address, claims } = await ask(post);
    expect([scheme, name, address]).toEqual(['databridge', 'admin', `127.0.0.1:${String(api.port)}`]);
    expect(claims).toMatchObject({
      entity_id: 'admin',
      type: 'developer',
      permissions: ['read', 'write', 'admin'],
    });
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(30 * 86_400);
    expect(await api.request('/usage/stats', { token })).toMatchObject({ status: 200 });
  });

  test('takes a url-encoded form, a multipart form and JSON', async () => {
    const fields = { name: 'bob', expiry_days: '2' };
    const multipart = new FormData();
    for (const [field, value] of Object.entries(fields)) multipart.set(field, value);
    for (const init of [
      form(fields),
      { method: 'POST', body: multipart },
      jsonBody({ name: 'bob', expiry_days: 2 }),
    ]) {
      const { name, claims } = await ask(init);
      expect(name).toBe('bob');
      expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(2 * 86_400);
    }
  });

  test('null and empty bodies are defaults', async () => {
    expect((await ask(jsonBody({ name: null, expiry_days: null }))).name).toBe('admin');
    expect((await ask(form({}))).name).toBe('admin');
    expect(
      (await ask({ method: 'POST', body: '', headers: { 'Content-Type': 'application/json' } })).name,
    ).toBe('admin');
  });

  test('the name is trimmed, lower-cased, and has _ for spaces', async () => {
    const { name, claims } = await ask(form({ name: '  Alice B. Smith ' }));
    expect(name).toBe('alice_b._smith');
    expect(claims['entity_id']).toBe('alice_b._smith');
  });

  test.each(['', ' ', 'a/b', 'a@b', 'a:b', 'ö', 'x'.repeat(65)])('the name %j is a 422', async (name) => {
    for (const init of [form({ name }), jsonBody({ name })]) {
      const answer = await api.request('/local/generate_uri', init);
      expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'name'] }] } });
    }
  });

  test.each([
    ['0', 'value_error.number.not_ge'],
    ['3651', 'value_error.number.not_le'],
    ['1.5', 'type_error.integer'],
    ['soon', 'type_error.integer'],
  ])('expiry_days %s is a 422', async (days, type) => {
    const answer = await api.request('/local/generate_uri', form({ expiry_days: days }));
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'expiry_days'], type }] } });
  });

  test('a body of another type is a 415', async () => {
    expect(await api.request('/local/generate_uri', { method: 'POST', body: 'name=bob' })).toMatchObject({
      status: 415,
    });
  });
});

describe('/local/generate_uri outside dev mode', () => {
  const refused = { status: 401, body: { detail: 'Invalid authentication credentials' } };

  test('needs an admin token', async () => {
    const api = await start();
    expect(await api.request('/local/generate_uri', post)).toMatchObject(refused);
    const admin = makeToken({ permissions: ['admin'] });
    expect(
      partsOf(await api.request('/local/generate_uri', { ...form({ name: 'bob' }), token: admin })).name,
    ).toBe('bob');
    const other = await api.request('/local/generate_uri', { ...post, token: makeToken() });
    expect(other).toMatchObject({ status: 403, body: { detail: 'Insufficient permissions' } });
    await api.close();
  });

  test('or the password of the settings', async () => {
    const api = await start({ password: PASSWORD });
    for (const init of [form({ password_token: PASSWORD }), jsonBody({ password_token: PASSWORD })]) {
      expect(partsOf(await api.request('/local/generate_uri', init)).name).toBe('admin');
    }
    for (const password of ['', 'wrong', `${PASSWORD} `]) {
      const answer = await api.request('/local/generate_uri', form({ password_token: password }));
      expect(answer).toMatchObject(refused);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
    await api.close();
  });

  test('without a password in the settings, none opens it', async () => {
    for (const password of [null, '']) {
      const api = await start({ password });
      expect(await api.request('/local/generate_uri', form({ password_token: '' }))).toMatchObject(refused);
      expect(await api.request('/local/generate_uri', jsonBody({ password_token: null }))).toMatchObject(
        refused,
      );
      await api.close();
    }
  });

  test('who may is decided before the fields are validated', async () => {
    const api = await start({ password: PASSWORD });
    expect(await api.request('/local/generate_uri', form({ name: '/', expiry_days: 'x' }))).toMatchObject(
      refused,
    );
    const broken = { method: 'POST', body: '{', headers: { 'Content-Type': 'application/json' } };
    expect(await api.request('/local/generate_uri', broken)).toMatchObject(refused);
    expect(await api.request('/local/generate_uri', { method: 'POST', body: 'x' })).toMatchObject(refused);
    await api.close();
  });
});

test('host and port of the URI are those of the settings, when set', async () => {
  const api = await start({ devMode: true, host: 'docs.example.com', port: 443 });
  expect(partsOf(await api.request('/local/generate_uri', post)).address).toBe('docs.example.com:443');
  await api.close();
});
