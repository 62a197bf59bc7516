import { afterAll, afterEach, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { noQuotas } from '../support/no-quotas.js';
import { noReads, noRecent } from '../support/no-reads.js';
import { createUsageRoutes } from '../../src/api/routes/usage.js';
import type { Route } from '../../src/api/http/route.js';
import { makeToken, startApi, type ApiClient } from '../support/api.js';
import { allRoutes } from '../support/all-routes.js';
import { startBrowser } from '../support/browser.js';

const browser = await startBrowser();
afterAll(() => browser?.close());
/** A service that is left open holds Jest up, also where a test fails. */
let opened: ApiClient[] = [];
afterEach(async () => {
  for (const api of opened) await api.close();
  opened = [];
});

async function openDocs(routes: readonly Route[]) {
  const api = await startApi({ routes });
  opened.push(api);
  if (!browser) throw new Error('no browser');
  return { api, page: await browser.newPage() };
}

const testWithBrowser = browser ? test : test.skip;

async function authorize(page: Page, token: string): Promise<void> {
  await page.getByRole('button', { name: 'Authorize' }).first().click();
  await page.locator('.auth-container input').fill(token);
  await page.locator('.auth-container button[type=submit]').click();
  await page.locator('.btn-done').click();
}

testWithBrowser(
  'in /docs a request is tried out with a token, and nobody else is asked for anything',
  async () => {
    const stats = { ingest_text: 4711 };
    const usage = { stats: () => Promise.resolve(stats) };
    const routes = createUsageRoutes({ usage, readRecent: noRecent, usageOfReads: noReads, ...noQuotas });
    const { api, page } = await openDocs(routes);
    const asked: string[] = [];
    const problems: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(error.message));

    await page.goto(`${api.url}/docs`);
    await authorize(page, makeToken());
    await page.getByText('/usage/stats').click();
    await page.getByRole('button', { name: 'Execute' }).click();
    await page.locator('.live-responses-table').getByText('4711').waitFor();

    expect(asked).toContain(`${api.url}/usage/stats`);
    expect(asked.filter((url) => !url.startsWith(api.url) && !url.startsWith('data:'))).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
  },
);

/** Opens an operation, and returns all that is filled in: fields by their names, and the body in JSON. */
async function filledIn(page: Page, path: string, method = 'post') {
  const block = page.locator(`.opblock-${method}`).filter({ has: page.locator(`[data-path="${path}"]`) });
  await block.locator('.opblock-summary-control').first().click();
  await block.locator('.opblock-body').waitFor();
  const rows = await block.locator('tr[data-param-name], tr[data-property-name]').all();
  const fields = await Promise.all(
    rows.map(async (row) => {
      const name = await row.getAttribute('data-param-name');
      const property = await row.getAttribute('data-property-name');
      const isFile = (await row.locator('input[type=file]').count()) > 0;
      const field = row.locator('input[type=text], select, textarea').first();
      return [name ?? property ?? '', isFile ? '' : await field.inputValue()] as const;
    }),
  );
  const texts = block.locator('textarea.body-param__text');
  const body: unknown = (await texts.count()) === 0 ? null : JSON.parse(await texts.first().inputValue());
  return { fields: Object.fromEntries(fields), body };
}

testWithBrowser('/docs begins with ingesting, and fills in the least that a first try needs', async () => {
  const { api, page } = await openDocs(allRoutes());
  await page.goto(`${api.url}/docs`);
  await page.locator('.opblock').first().waitFor();
  const tags = await page.locator('.opblock-tag').all();
  const names = await Promise.all(tags.slice(0, 4).map((tag) => tag.getAttribute('data-tag')));
  expect(names).toEqual(['Ingest', 'Search', 'Ask', 'Documents']);
  const words = { on_duplicate: 'new', ocr: 'auto', source_id: '', collection: '' };
  const form = { metadata: '{}', access_control: '{}', chunking: '{}', ...words };
  expect(await filledIn(page, '/ingest/text')).toEqual({
    fields: { 'Idempotency-Key': '' },
    body: { content: expect.any(String) },
  });
  expect(await filledIn(page, '/ingest/file')).toEqual({
    fields: { 'Idempotency-Key': '', file: '', ...form },
    body: null,
  });
  expect(await filledIn(page, '/ingest/files')).toMatchObject({
    fields: { 'Idempotency-Key': '', ...form },
  });
  expect((await filledIn(page, '/query')).body).toEqual({ query: expect.any(String) });
  expect((await filledIn(page, '/documents', 'get')).fields).toMatchObject({
    filters: '',
    cursor: '',
    q: '',
  });
  await page.close();
});

testWithBrowser('/docs sends its token to where a token is one of several ways', async () => {
  const { api, page } = await openDocs(allRoutes());
  await page.goto(`${api.url}/docs`);
  await authorize(page, 'a.token.here');
  await page.locator('[data-path="/local/generate_uri"]').click();
  const sent = page.waitForRequest(`${api.url}/local/generate_uri`);
  await page.getByRole('button', { name: 'Execute' }).click();
  expect((await sent).headers()['authorization']).toBe('Bearer a.token.here');
  await page.close();
});
