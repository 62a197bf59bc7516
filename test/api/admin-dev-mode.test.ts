import { describe, expect, test } from '@jest/globals';
import { openBoard as open } from '../support/admin.js';
import { inSeconds, makeToken } from '../support/api.js';
import { ask } from '../support/ask.js';
import { browserTest, visit } from '../support/browser.js';
import { EVERYDAY } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';

const service = useService({ env: EVERYDAY });
const page = { Accept: 'text/html' };

/** The headers of the board's own writes. */
async function openBoard(): Promise<Record<string, string>> {
  const { cookie, csrf } = await open(service.url);
  return { Cookie: cookie, 'X-XSRF-TOKEN': csrf };
}

const pause = (headers: Record<string, string>) =>
  ask(`${service.url}/admin/queues/api/queues/cache/pause`, { method: 'PUT', headers });

describe('in dev mode, /admin', () => {
  test('is open', async () => {
    for (const path of ['/admin/queues', '/admin/queues/api/queues', '/admin/login']) {
      expect((await ask(service.url + path, { headers: page })).status).toBe(200);
    }
    expect((await ask(`${service.url}/admin/documents/none`)).status).toBe(404);
  });

  test('honours the token of somebody who is no admin', async () => {
    const headers = { Authorization: `Bearer ${makeToken({ exp: inSeconds(60) })}` };
    expect((await ask(`${service.url}/admin/queues`, { headers })).status).toBe(403);
  });

  test('is closed to names that were made to point here', async () => {
    for (const path of ['/admin/queues', '/admin/login', '/metrics']) {
      const answer = await ask(service.url + path, { headers: { ...page, Host: 'rebound.example' } });
      expect(answer.status).toBe(403);
    }
  });

  test('is read-only unless set otherwise', async () => {
    const answer = await pause(await openBoard());
    expect(answer.status).toBe(403);
    expect(answer.text).toContain('read-only');
    const { text } = await ask(`${service.url}/admin/queues/api/queues`);
    expect(text).toContain('"readOnlyMode":true');
    expect(text).not.toContain('"isPaused":true');
  });

  test.each([
    { Origin: 'https://evil.example' },
    // Another program on this machine may call the API, but not manage the queues.
    { Origin: 'http://127.0.0.1:1' },
    { 'Sec-Fetch-Site': 'cross-site' },
  ])('refuses writes of other pages: %j', async (headers) => {
    const answer = await pause({ ...(await openBoard()), ...headers });
    expect(answer.status).toBe(403);
    expect(answer.text).not.toContain('read-only');
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });

  test('refuses writes without the token of its own pages', async () => {
    const answer = await pause({});
    expect(answer.status).toBe(403);
    expect(answer.text).toContain('CSRF');
  });
});

describe('in dev mode, /metrics', () => {
  test('is open to this machine, but not by way of a proxy', async () => {
    expect((await ask(`${service.url}/metrics`)).status).toBe(200);
    const headers = { 'X-Forwarded-For': '203.0.113.9' };
    expect((await ask(`${service.url}/metrics`, { headers })).status).toBe(401);
  });
});

describe('in a browser', () => {
  browserTest('the board shows jobs, asks no other server, and leads to their documents', async () => {
    const answer = await fetch(`${service.url}/ingest/text`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${makeToken()}` },
      body: JSON.stringify({ content: 'Nine barrels of cider.' }),
    });
    const { external_id: id } = (await answer.json()) as { external_id: string };
    await visit(service.url, async (tab) => {
      await tab.goto(`${service.url}/admin/queues`);
      await tab.getByRole('link', { name: 'ingestion-quick' }).first().click();
      await tab.getByText(`ingest-${id}-1-1`).waitFor();
      expect(await tab.content()).not.toContain('cider');
      const link = tab.getByRole('link', { name: 'Document' }).first();
      expect(await link.getAttribute('href')).toBe(`/admin/documents/${id}`);
      await tab.goto(`${service.url}/admin/documents/${id}`);
      await tab.getByRole('heading', { name: 'Document' }).waitFor();
      expect(await tab.content()).toContain('completed');
    });
  });

  browserTest('the login form works, and so does the logout', async () => {
    await visit(service.url, async (tab) => {
      await tab.goto(`${service.url}/admin/login`);
      // The style is let in by its hash.
      expect(await tab.evaluate(`getComputedStyle(document.querySelector('.card')).borderRadius`)).toBe(
        '10px',
      );
      await tab.getByLabel('Admin token').fill(makeToken({ entity_id: 'olga', permissions: ['admin'] }));
      await tab.getByRole('button', { name: 'Log in' }).click();
      await tab.waitForURL(`${service.url}/admin/queues`);
      await tab.goto(`${service.url}/admin/login`);
      await tab.getByText('olga').waitFor();
      await tab.getByRole('button', { name: 'Log out' }).click();
      await tab.getByLabel('Admin token').waitFor();
    });
  });
});
