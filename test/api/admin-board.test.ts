import { describe, expect, test } from '@jest/globals';
import { LANE_PURPOSES, openQueue } from '../../src/shared/queues/lanes.js';
import { adminToken, bearer, form, login, openBoard as open, page } from '../support/admin.js';
import { makeToken } from '../support/api.js';
import { ask } from '../support/ask.js';
import { browserTest, visit } from '../support/browser.js';
import { GUARDED } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';
import { until } from '../support/until.js';

const service = useService({ env: GUARDED });

const get = (path: string, headers: Record<string, string> = {}) => ask(service.url + path, { headers });

async function openBoard() {
  const { cookie } = await login(service.url, adminToken());
  return open(service.url, cookie);
}

const isPaused = async () => {
  const { text } = await get('/admin/queues/api/queues', bearer(adminToken()));
  const { queues } = JSON.parse(text) as { queues: { name: string; isPaused: boolean }[] };
  return queues.find(({ name }) => name === 'cache')?.isPaused;
};
const pause = (headers: Record<string, string>, verb = 'pause') =>
  ask(`${service.url}/admin/queues/api/queues/cache/${verb}`, { method: 'PUT', headers });

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
      // A browser sends the password for a proxy by itself: it is no sign of our page.
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

browserTest('a click on the queue board pauses a queue', async () => {
  await visit(service.url, async (tab) => {
    await tab.goto(`${service.url}/admin/login?next=/admin/queues/queue/cache`);
    await tab.getByLabel('Admin token').fill(adminToken());
    await tab.getByRole('button', { name: 'Log in' }).click();
    await tab.waitForURL(`${service.url}/admin/queues/queue/cache`);
    // The first one is the user's.
    await tab.locator('[aria-haspopup=menu]').nth(1).click();
    await tab.getByRole('menuitem', { name: 'Pause' }).click();
    await tab.getByRole('button', { name: 'Confirm' }).click();
    await until(async () => (await isPaused()) === true);
    await pause(bearer(adminToken()), 'resume');
  });
});

describe('what the queue board shows', () => {
  test('is what each of the nine lanes is for', async () => {
    const { text } = await get('/admin/queues/api/queues', bearer(adminToken()));
    const { queues } = JSON.parse(text) as { queues: { name: string; description?: string }[] };
    expect(Object.fromEntries(queues.map(({ name, description }) => [name, description]))).toEqual(
      LANE_PURPOSES,
    );
  });

  test('is ids and names only, of failed jobs too', async () => {
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

  test('tells how it stands and its name, and nothing else that its owner wrote', async () => {
    const id = await ingest();
    const json = await get(`/admin/documents/${id}`, { ...bearer(adminToken()), Accept: 'application/json' });
    expect(json.headers['content-type']).toBe('application/json');
    expect(JSON.parse(json.text)).toMatchObject({
      document_id: id,
      owner_id: '<b>alice</b>',
      filename: 'vault-plan.txt',
      status: 'completed',
      stage: 'completed',
      error: null,
      version: 1,
      published_version: 1,
      attempt: 1,
      pending: null,
      published: { version: 1, chunk_count: 1, token_count: expect.any(Number) },
      generations: [{ id: expect.stringMatching(`^${id}\\.1\\.1\\.[0-9a-f]{8}$`), chunk_count: 1 }],
      jobs: [
        // Quick texts have a lane of their own.
        { queue: 'ingestion-quick', id: `ingest-${id}-1-1`, state: 'completed' },
        { queue: 'embedding', id: `embed-${id}-1-1-0`, state: expect.stringMatching(/active|completed/) },
      ],
    });
    const shown = await get(`/admin/documents/${id}`, { ...bearer(adminToken()), ...page });
    expect(shown.headers['content-type']).toContain('text/html');
    expect(shown.text).toContain(`href="/admin/queues/queue/ingestion-quick/ingest-${id}-1-1"`);
    expect(shown.text).toContain('&lt;b&gt;alice');
    for (const text of [json.text, shown.text]) {
      for (const secret of ['vault opens', 'heist', 'project', 'text/plain'])
        expect(text).not.toContain(secret);
    }
  });

  test('is 404 for no document, and 405 for methods that it does not have', async () => {
    expect((await get('/admin/documents/none', bearer(adminToken()))).status).toBe(404);
    const remove = { method: 'DELETE', headers: bearer(adminToken()) };
    expect((await ask(`${service.url}/admin/documents/none`, remove)).status).toBe(405);
  });
});
