import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createSessions } from '../../src/api/admin/sessions.js';
import { keys } from '../../src/shared/keys.js';
import { openQueue } from '../../src/shared/jobs.js';
import { createRedis, type Redis } from '../../src/shared/redis.js';
import { inSeconds, makeToken, SECRET } from '../support/api.js';
import { ask, cookiesOf, type Answer, type Asked } from '../support/ask.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

let service: Service;
let redis: Redis;
const page = { Accept: 'text/html,application/xhtml+xml' };

beforeAll(async () => {
  service = await startService({
    env: { QUIRE_DEV_MODE: 'false', JWT_SECRET_KEY: SECRET, QUIRE_ADMIN_QUEUES_READ_ONLY: 'false' },
  });
  redis = createRedis(service.redis.url, { failFast: true, onError: () => undefined });
  await redis.connect();
}, 60_000);

afterAll(async () => {
  redis.destroy();
  await service.stop();
});

const get = (path: string, headers: Record<string, string> = {}) => ask(service.url + path, { headers });
const adminToken = (claims = {}) => makeToken({ entity_id: 'olga', permissions: ['admin'], ...claims });
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const form = (fields: Record<string, string>, headers: Record<string, string>): Asked => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...page, ...headers },
  body: new URLSearchParams(fields).toString(),
});

function cookieHeader(...answers: Answer[]): string {
  const all = new Map(answers.flatMap((answer) => [...cookiesOf(answer)]));
  return [...all].map(([name, { value }]) => `${name}=${value}`).join('; ');
}

const csrfIn = (answer: Answer) => /name="csrf" value="([^"]+)"/.exec(answer.text)?.[1] ?? '';

/** As a browser does it: load the page, send the form. */
async function login(token: string, { next = '', headers = {} } = {}) {
  const shown = await get(`/admin/login?next=${encodeURIComponent(next)}`, page);
  const fields = { token, csrf: csrfIn(shown), next };
  const answer = await ask(
    `${service.url}/admin/login`,
    form(fields, { Cookie: cookieHeader(shown), Origin: service.url, ...headers }),
  );
  return { shown, answer, cookie: cookieHeader(shown, answer) };
}

/** Logs in and loads the board, which brings the token for its writes. */
async function openBoard() {
  const { cookie: loggedIn } = await login(adminToken());
  const board = await get('/admin/queues', { ...page, Cookie: loggedIn });
  const csrf = cookiesOf(board).get('XSRF-TOKEN')?.value ?? '';
  return { cookie: loggedIn, csrf, board };
}

const isPaused = async () => {
  const { text } = await get('/admin/queues/api/queues', bearer(adminToken()));
  const { queues } = JSON.parse(text) as { queues: { name: string; isPaused: boolean }[] };
  return queues.find(({ name }) => name === 'cache')?.isPaused;
};
const pause = (headers: Record<string, string>, verb = 'pause') =>
  ask(`${service.url}/admin/queues/api/queues/cache/${verb}`, { method: 'PUT', headers });

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
      'embedding',
      'ingestion',
      'maintenance',
      'usage',
    ]);
  });

  test('a browser is sent to the login page, and from there to where it wanted', async () => {
    const wanted = '/admin/queues/queue/ingestion?status=failed';
    const sent = await get(wanted, page);
    expect(sent).toMatchObject({ status: 303 });
    expect(sent.headers.location).toBe(`/admin/login?next=${encodeURIComponent(wanted)}`);
    const { answer } = await login(adminToken(), { next: wanted });
    expect(answer).toMatchObject({ status: 303, headers: { location: wanted } });
  });
});

describe('the login', () => {
  test('gives a cookie that scripts cannot read and that goes to /admin only', async () => {
    const { answer, cookie } = await login(adminToken());
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
    const { answer } = await login(adminToken(), { headers: { Origin: origin } });
    expect(cookiesOf(answer).get('quire_admin')?.attributes).toContain('secure');
  });

  test.each(['/documents', '/usage/stats', '/metrics', '/caches'])(
    'gives nothing that would open %s',
    async (path) => {
      const { cookie } = await login(adminToken());
      expect((await get(path, { Cookie: cookie })).status).toBe(401);
      const value = /quire_admin=([^;]+)/.exec(cookie)?.[1] ?? '';
      expect((await get(path, bearer(value))).status).toBe(401);
    },
  );

  test('is over after the logout, for copies of the cookie too', async () => {
    const { cookie } = await login(adminToken());
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
    const { cookie } = await login(adminToken({ exp: inSeconds(2) }));
    expect((await get('/admin/queues', { Cookie: cookie })).status).toBe(200);
    await until(async () => (await get('/admin/queues', { Cookie: cookie })).status === 401);
  });

  test('cannot be forged or stretched', async () => {
    const { cookie } = await login(adminToken());
    const value = /quire_admin=([^;]+)/.exec(cookie)?.[1] ?? '';
    const ours = createSessions({ secrets: [SECRET], redis });
    const theirs = createSessions({ secrets: ['y'.repeat(40)], redis });
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
    const wrong = await login('not-a-token');
    expect(wrong.answer).toMatchObject({ status: 401 });
    expect(wrong.answer.text).toContain('not valid');
    expect(wrong.answer.text).not.toContain('not-a-token');
    const plain = makeToken();
    const { answer } = await login(plain);
    expect(answer).toMatchObject({ status: 403 });
    expect(answer.text).toContain('lacks the admin permission');
    expect(answer.text + service.api.output()).not.toContain(plain);
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
    const { answer } = await login(adminToken(), { next });
    expect(answer).toMatchObject({ status: 303, headers: { location: '/admin/queues' } });
  });

  test('escapes what a link to it says', async () => {
    const { shown } = await login('x', { next: '"><script>alert(1)</script>' });
    expect(shown.text).toContain('&lt;script&gt;');
    expect(shown.text).not.toContain('<script');
    expect(shown.headers['content-security-policy']).toContain("default-src 'none'");
  });

  test.each([
    ['from another site', { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }],
    ['from a neighbour', { 'Sec-Fetch-Site': 'same-site' }],
    ['of a page without an origin', { Origin: 'null' }],
  ])('refuses forms %s', async (_, headers) => {
    const { answer } = await login(adminToken(), { headers });
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

  test('can be tried ten times in five minutes', async () => {
    const address = '127.0.0.1';
    await redis.del(keys.loginAttempts(address));
    for (let attempt = 0; attempt < 10; attempt += 1) expect((await login('guess')).answer.status).toBe(401);
    const refused = (await login(adminToken())).answer;
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(200);
    await redis.del(keys.loginAttempts(address));
  });
});

describe('writes on the queue board', () => {
  test('work from its own page', async () => {
    const { cookie, csrf } = await openBoard();
    const headers = {
      Cookie: cookie,
      'X-XSRF-TOKEN': csrf,
      Origin: service.url,
      'Sec-Fetch-Site': 'same-origin',
    };
    expect((await pause(headers)).status).toBe(200);
    expect(await isPaused()).toBe(true);
    expect((await pause(headers, 'resume')).status).toBe(200);
    expect(await isPaused()).toBe(false);
  });

  test('work with a bearer token', async () => {
    expect((await pause(bearer(adminToken()))).status).toBe(200);
    expect((await pause(bearer(adminToken()), 'resume')).status).toBe(200);
  });

  test('are refused to every other page', async () => {
    const { cookie, csrf } = await openBoard();
    const other = await openBoard();
    for (const headers of [
      { Cookie: cookie },
      { Cookie: cookie, 'X-XSRF-TOKEN': 'guess' },
      { Cookie: cookie, 'X-XSRF-TOKEN': other.csrf },
      { Cookie: cookie, 'X-XSRF-TOKEN': csrf, Origin: 'https://evil.example' },
      { Cookie: cookie, 'X-XSRF-TOKEN': csrf, 'Sec-Fetch-Site': 'cross-site' },
      { ...bearer(adminToken()), Origin: 'https://evil.example' },
      // What a browser sends by itself for a proxy's password is no sign of our page.
      { Cookie: cookie, Authorization: 'Basic b2xnYTpzZWNyZXQ=' },
    ]) {
      expect((await pause(headers)).status).toBe(403);
    }
    const crossSite = form(
      {},
      { Cookie: cookie, Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' },
    );
    expect((await ask(`${service.url}/admin/queues/api/queues/cache/add`, crossSite)).status).toBe(403);
    expect(await isPaused()).toBe(false);
  });
});

describe('what the queue board shows', () => {
  test('is ids only, of failed jobs too', async () => {
    const queue = openQueue('ingestion', { url: service.redis.url });
    const job = await queue.add(
      'ingest',
      { documentId: 'a1', content: 'the secret words', version: { text: 'the secret words' } },
      { jobId: 'ingest-spoiled', attempts: 1 },
    );
    await until(() => job.isFailed());
    await queue.close();
    const { status, text } = await get(
      '/admin/queues/api/queues/ingestion/ingest-spoiled',
      bearer(adminToken()),
    );
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({
      job: {
        data: { documentId: 'a1' },
        failedReason: 'see the log of the worker',
        externalUrl: { displayText: 'Document', href: '/admin/documents/a1' },
      },
    });
    expect(text).not.toContain('secret words');
    expect(text).not.toContain('expected number');
  });

  test('is a page that asks no other server for anything', async () => {
    const { board } = await openBoard();
    expect(board.text).toContain('<title>Quire queues</title>');
    expect(board.text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
    expect(board.text).not.toContain('<%');
    const policy = board.headers['content-security-policy'] ?? '';
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).not.toContain('http');
    const elsewhere = await get('/health');
    expect(elsewhere.headers['content-security-policy']).not.toContain("style-src 'self' 'unsafe-inline'");
  });

  test('is readable by no page of another origin', async () => {
    const { headers } = await get('/admin/queues', { ...bearer(adminToken()), Origin: 'http://localhost:1' });
    expect(headers['access-control-allow-origin']).toBeUndefined();
    expect(headers['cache-control']).toBe('no-store');
  });
});

describe('the page of a document', () => {
  async function ingest() {
    const file = new FormData();
    file.set('file', new Blob(['The vault opens at nine.']), 'vault-plan.txt');
    file.set('metadata', JSON.stringify({ project: 'heist' }));
    const answer = await fetch(`${service.url}/ingest/file`, {
      method: 'POST',
      body: file,
      headers: bearer(makeToken({ entity_id: '<b>alice</b>' })),
    });
    const { external_id: id } = (await answer.json()) as { external_id: string };
    return id;
  }

  test('tells how it stands, and nothing of what its owner wrote', async () => {
    const id = await ingest();
    const json = await get(`/admin/documents/${id}`, { ...bearer(adminToken()), Accept: 'application/json' });
    expect(json.headers['content-type']).toBe('application/json');
    expect(JSON.parse(json.text)).toMatchObject({
      document_id: id,
      owner_id: '<b>alice</b>',
      ...{ status: 'completed', stage: 'completed', error: null },
      ...{ version: 1, published_version: 1, attempt: 1, pending: null },
      published: { version: 1, chunk_count: 1, token_count: expect.any(Number) },
      generations: [{ id: `${id}.1.1`, chunk_count: 1 }],
      jobs: [
        { queue: 'ingestion', id: `ingest-${id}-1-1`, state: 'completed' },
        { queue: 'embedding', id: `embed-${id}-1-1-0`, state: expect.stringMatching(/active|completed/) },
      ],
    });
    const shown = await get(`/admin/documents/${id}`, { ...bearer(adminToken()), ...page });
    expect(shown.headers['content-type']).toContain('text/html');
    expect(shown.text).toContain(`href="/admin/queues/queue/ingestion/ingest-${id}-1-1"`);
    expect(shown.text).toContain('&lt;b&gt;alice');
    for (const text of [json.text, shown.text]) {
      for (const secret of ['vault', 'heist', 'project', 'text/plain']) expect(text).not.toContain(secret);
    }
  });

  test('is 404 for no document, and read-only', async () => {
    expect((await get('/admin/documents/none', bearer(adminToken()))).status).toBe(404);
    const remove = { method: 'DELETE', headers: bearer(adminToken()) };
    expect((await ask(`${service.url}/admin/documents/none`, remove)).status).toBe(405);
  });
});
