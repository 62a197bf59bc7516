import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createSessions } from '../../src/api/browser/sessions.js';
import { createRedis, type Redis } from '../../src/shared/redis/client.js';
import { keys } from '../../src/shared/redis/keys.js';
import { adminToken, bearer, cookieHeader, csrfIn, form, login, page } from '../support/admin.js';
import { inSeconds, makeToken, SECRET } from '../support/api.js';
import { ask, cookiesOf } from '../support/ask.js';
import { GUARDED } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';
import { until } from '../support/until.js';

const service = useService({ env: GUARDED });
let redis: Redis;

beforeAll(async () => {
  redis = createRedis(service.redis.url, { failFast: true, onError: () => undefined });
  await redis.connect();
});

afterAll(() => {
  redis.destroy();
});

const get = (path: string, headers: Record<string, string> = {}) => ask(service.url + path, { headers });
const loginWith = (token: string, options = {}) => login(service.url, token, options);

describe('who may see /admin', () => {
  test.each(['/admin', '/admin/queues', '/admin/queues/api/queues', '/admin/documents/x', '/admin/nothing'])(
    '%s is for admins only',
    async (path) => {
      const stranger = await get(path);
      expect(stranger).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer' } });
      expect(JSON.parse(stranger.text)).toEqual({ detail: 'Invalid authentication credentials' });
      expect((await get(path, bearer(makeToken()))).status).toBe(403);
      expect(
        (await get(path, bearer(makeToken({ permissions: ['admin'] }, { secret: 'x'.repeat(40) })))).status,
      ).toBe(401);
    },
  );

  test('an admin token is enough for scripts', async () => {
    const { status, text } = await get('/admin/queues/api/queues', bearer(adminToken()));
    expect(status).toBe(200);
    const { queues } = JSON.parse(text) as { queues: { name: string }[] };
    expect(queues.map(({ name }) => name).sort()).toEqual([
      'cache',
      'cache-quick',
      'embedding',
      'ingestion',
      'ingestion-groups',
      'ingestion-pages',
      'ingestion-quick',
      'maintenance',
      'usage',
    ]);
  });

  test('a browser is sent to the login page, and from there to where it wanted', async () => {
    const wanted = '/admin/queues/queue/ingestion?status=failed';
    const sent = await get(wanted, page);
    expect(sent).toMatchObject({ status: 303 });
    expect(sent.headers.location).toBe(`/admin/login?next=${encodeURIComponent(wanted)}`);
    const { answer } = await loginWith(adminToken(), { next: wanted });
    expect(answer).toMatchObject({ status: 303, headers: { location: wanted } });
  });
});

describe('the login', () => {
  test('gives a cookie that scripts cannot read and that goes to /admin only', async () => {
    const { answer, cookie } = await loginWith(adminToken());
    const { attributes } = cookiesOf(answer).get('quire_admin') ?? { attributes: [] };
    expect(attributes).toEqual(
      expect.arrayContaining(['httponly', 'samesite=strict', 'path=/admin', 'max-age=3600']),
    );
    expect(attributes).not.toContain('secure');
    expect(answer.headers['set-cookie']?.join()).not.toContain(adminToken().split('.')[1]);
    const board = await get('/admin/queues', { ...page, Cookie: cookie });
    expect(board.status).toBe(200);
  });

  test('marks the cookie as secure when the browser came over https', async () => {
    const origin = service.url.replace('http:', 'https:');
    const { answer } = await loginWith(adminToken(), { headers: { Origin: origin } });
    expect(cookiesOf(answer).get('quire_admin')?.attributes).toContain('secure');
  });

  test.each(['/documents', '/usage/stats', '/metrics', '/caches'])(
    'gives nothing that would open %s',
    async (path) => {
      const { cookie } = await loginWith(adminToken());
      expect((await get(path, { Cookie: cookie })).status).toBe(401);
      const value = /quire_admin=([^;]+)/.exec(cookie)?.[1] ?? '';
      expect((await get(path, bearer(value))).status).toBe(401);
    },
  );

  test('is over after the logout, for copies of the cookie too', async () => {
    const { cookie } = await loginWith(adminToken());
    const shown = await get('/admin/login', { ...page, Cookie: cookie });
    expect(shown.text).toContain('olga');
    const leave = form({ csrf: csrfIn(shown) }, { Cookie: cookie, Origin: service.url });
    const left = await ask(`${service.url}/admin/logout`, leave);
    expect(left).toMatchObject({ status: 303, headers: { location: '/admin/login' } });
    expect(cookiesOf(left).get('quire_admin')).toMatchObject({
      value: '',
      attributes: expect.arrayContaining(['max-age=0']),
    });
    expect((await get('/admin/queues', { Cookie: cookie })).status).toBe(401);
  });

  test('ends with the token that it was made from', async () => {
    const { cookie } = await loginWith(adminToken({ exp: inSeconds(2) }));
    expect((await get('/admin/queues', { Cookie: cookie })).status).toBe(200);
    await until(async () => (await get('/admin/queues', { Cookie: cookie })).status === 401);
  });

  test('cannot be forged or stretched', async () => {
    const { cookie } = await loginWith(adminToken());
    const value = /quire_admin=([^;]+)/.exec(cookie)?.[1] ?? '';
    const ours = createSessions({ realm: 'admin', secrets: [SECRET], redis });
    const theirs = createSessions({ realm: 'admin', secrets: ['y'.repeat(40)], redis });
    const far = Date.now() + 3_600_000;
    const signature = value.split('.')[1] ?? '';
    const longer = Buffer.from(JSON.stringify(ours.create('olga', far))).toString('base64url');
    for (const forged of [
      theirs.seal(theirs.create('olga', far)),
      ours.seal(ours.create('olga', Date.now() - 1)),
      ours.seal(ours.create(null, far)),
      `${longer}.${signature}`,
      `${longer}.`,
      value.slice(0, -2),
      'nonsense',
    ]) {
      expect((await get('/admin/queues', { Cookie: `quire_admin=${forged}` })).status).toBe(401);
    }
    expect((await get('/admin/queues', { Cookie: `quire_admin=${value}` })).status).toBe(200);
  });

  test('says what is wrong with a token, and never shows it', async () => {
    const wrong = await loginWith('not-a-token');
    expect(wrong.answer).toMatchObject({ status: 401 });
    expect(wrong.answer.text).toContain('not valid');
    expect(wrong.answer.text).not.toContain('not-a-token');
    const plain = makeToken();
    const { answer } = await loginWith(plain);
    expect(answer).toMatchObject({ status: 403 });
    expect(answer.text).toContain('lacks the admin permission');
    expect(answer.text + (await service.apiOutput())).not.toContain(plain);
    expect(cookiesOf(answer).has('quire_admin')).toBe(false);
  });

  test.each([
    'https://evil.example/',
    '//evil.example/admin/queues',
    '/\\evil.example',
    '/admin/../documents',
    '/admin/%2e%2e/documents',
    '/admin//evil.example',
    '/admin\\@evil.example',
    '/administer',
    '/admin/login',
    'javascript:alert(1)',
  ])('does not lead to %s', async (next) => {
    const { answer } = await loginWith(adminToken(), { next });
    expect(answer).toMatchObject({ status: 303, headers: { location: '/admin/queues' } });
  });

  test('escapes what a link to it says', async () => {
    const { shown } = await loginWith('x', { next: '"><script>alert(1)</script>' });
    expect(shown.text).toContain('&lt;script&gt;');
    expect(shown.text).not.toContain('<script');
    expect(shown.headers['content-security-policy']).toContain("default-src 'none'");
  });

  test.each([
    ['from another site', { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }],
    ['from a neighbour', { 'Sec-Fetch-Site': 'same-site' }],
    ['of a page without an origin', { Origin: 'null' }],
  ])('refuses forms %s', async (_, headers) => {
    const { answer } = await loginWith(adminToken(), { headers });
    expect(answer.status).toBe(403);
    expect(cookiesOf(answer).size).toBe(0);
  });

  test('refuses forms that did not come from its page', async () => {
    const blind = form({ token: adminToken() }, { Origin: service.url });
    expect((await ask(`${service.url}/admin/login`, blind)).status).toBe(403);
    const [mine, other] = [await get('/admin/login', page), await get('/admin/login', page)];
    const crossed = form({ token: adminToken(), csrf: csrfIn(other) }, { Cookie: cookieHeader(mine) });
    expect((await ask(`${service.url}/admin/login`, crossed)).status).toBe(403);
  });

  test('refuses what is no form, or far too large', async () => {
    const json = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' };
    expect((await ask(`${service.url}/admin/login`, json)).status).toBe(415);
    expect((await ask(`${service.url}/admin/login`, form({ token: 'x'.repeat(99_000) }, {}))).status).toBe(
      413,
    );
    expect(await ask(`${service.url}/admin/login`, { method: 'DELETE' })).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD, POST' },
    });
  });

  test('can be tried ten times in a minute, and a right token never is one time too many', async () => {
    await redis.del(keys.guesses('signed-token', '127.0.0.1'));
    for (let attempt = 0; attempt < 10; attempt += 1)
      expect((await loginWith('guess')).answer.status).toBe(401);
    const refused = (await loginWith('guess')).answer;
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await loginWith(adminToken())).answer.status).toBe(303);
  });
});
