import { existsSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { chromium, type Browser, type Page } from 'playwright-core';

/** The path where Debian puts it. */
const path = process.env['QUIRE_TEST_CHROMIUM'] ?? '/usr/bin/chromium';
const hasBrowser = existsSync(path);
if (!hasBrowser)
  process.stderr.write(`tests in a browser are skipped: none at ${path} (QUIRE_TEST_CHROMIUM)\n`);

/** The default is half a minute, which a full machine may need. */
const PATIENCE_MILLISECONDS = 120_000;

/** A test that runs only where a browser is installed. */
export const browserTest = hasBrowser ? test : test.skip;

/** A browser; null where none is installed. */
export async function startBrowser(): Promise<Browser | null> {
  if (!hasBrowser) return null;
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];
  return chromium.launch({
    executablePath: path,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', ...quiet],
  });
}

/** Takes steps in a new browser; fails when a page asks any other server than `url`, or logs an error. */
export async function visit(url: string, steps: (page: Page) => Promise<void>): Promise<void> {
  const browser = await startBrowser();
  if (!browser) throw new Error('no browser');
  const troubles: string[] = [];
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE_MILLISECONDS);
    page.on('request', (request) => {
      if (!request.url().startsWith(`${url}/`)) troubles.push(request.url());
    });
    page.on('pageerror', ({ message }) => troubles.push(message));
    page.on('console', (message) => {
      if (message.type() === 'error') troubles.push(message.text());
    });
    await steps(page);
  } finally {
    await browser.close();
  }
  expect(troubles).toEqual([]);
}
