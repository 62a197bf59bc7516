import { afterAll, expect, test } from '@jest/globals';
import { noQuotas } from '../support/no-quotas.js';
import { noReads, noRecent } from '../support/no-reads.js';
import { createUsageRoutes } from '../../src/api/routes/usage.js';
import { makeToken, startApi } from '../support/api.js';
import { startBrowser } from '../support/browser.js';

const browser = await startBrowser();
afterAll(() => browser?.close());
const testWithBrowser = browser ? test : test.skip;

testWithBrowser(
  'in /docs a request is tried out with a token, and nobody else is asked for anything',
  async () => {
    const stats = { ingest_text: 4711 };
    const usage = { stats: () => Promise.resolve(stats) };
    const routes = createUsageRoutes({ usage, readRecent: noRecent, usageOfReads: noReads, ...noQuotas });
    const api = await startApi({ routes });
    if (!browser) throw new Error('no browser');
    const page = await browser.newPage();
    const asked: string[] = [];
    const problems: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(error.message));

    await page.goto(`${api.url}/docs`);
    await page.getByRole('button', { name: 'Authorize' }).first().click();
    await page.locator('.auth-container input').fill(makeToken());
    await page.locator('.auth-container button[type=submit]').click();
    await page.locator('.btn-done').click();
    await page.getByText('/usage/stats').click();
    await page.getByRole('button', { name: 'Execute' }).click();
    await page.locator('.live-responses-table').getByText('4711').waitFor();

    expect(asked).toContain(`${api.url}/usage/stats`);
    expect(asked.filter((url) => !url.startsWith(api.url) && !url.startsWith('data:'))).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
    await api.close();
  },
);
