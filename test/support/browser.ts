import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

/** Where Debian puts it. */
const path = process.env['QUIRE_TEST_CHROMIUM'] ?? '/usr/bin/chromium';

/** A browser for tests; null, with the reason printed, where none is installed. */
export async function startBrowser(): Promise<Browser | null> {
  if (!existsSync(path)) {
    process.stderr.write(`skipped: no browser at ${path} (QUIRE_TEST_CHROMIUM)\n`);
    return null;
  }
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];
  return chromium.launch({
    executablePath: path,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', ...quiet],
  });
}
