import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { browserTest, startBrowser } from '../support/browser.js';
import { EVERYDAY } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';

const service = useService({ env: EVERYDAY });
const DIST = resolve('clients/typescript/dist');
const SCENARIO = resolve('test/clients/scenario.mjs');

/** Runtimes beside the one of the tests, by the variables that name their executables. */
const RUNTIMES = [
  { name: 'another Node.js', variable: 'QUIRE_TEST_NODE', options: [] },
  { name: 'Deno', variable: 'QUIRE_TEST_DENO', options: ['run', '--allow-all'] },
  { name: 'Bun', variable: 'QUIRE_TEST_BUN', options: [] },
] as const;

const seenIn = (hasFiles: boolean) => ({
  text: true,
  files: [
    ['crane ü.txt', 'completed'],
    ['file', 'completed'],
    ...(hasFiles ? [['goose.txt', 'completed'] as const] : []),
  ],
  sent: hasFiles
    ? [
        [15, 15],
        [17, null],
        [12, 12],
      ]
    : [],
  outcomes: ['completed'],
  chunk: 'A heron stands in the reeds.',
  answer: true,
  streamed: 1,
  listed: [...(hasFiles ? [2] : []), 2, 2, 1],
  download: 'A heron stands in the reeds.',
  error: [true, 404, 'Document not found', true],
  aborted: 'enough',
  late: true,
});

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quire-runtimes-'));
  await writeFile(join(folder, 'goose.txt'), 'A goose.\n\n\n\n');
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

function tokenOf(name: string): string {
  return service.client(name).authorization.replace('Bearer ', '');
}

async function runIn(executable: string, options: readonly string[], caller: string): Promise<unknown> {
  const main = join(folder, `${caller}.mjs`);
  const input = { url: service.url, token: tokenOf(caller), path: join(folder, 'goose.txt') };
  await writeFile(
    main,
    `import * as client from ${JSON.stringify(`file://${DIST}/quire.js`)};
import { runScenario } from ${JSON.stringify(`file://${SCENARIO}`)};
console.log(JSON.stringify(await runScenario(client, ${JSON.stringify(input)})));`,
  );
  const output = await new Promise<string>((done, fail) => {
    execFile(executable, [...options, main], { cwd: folder }, (error, stdout, stderr) => {
      if (error === null) done(stdout);
      else fail(new Error(`${error.message}\n${stderr}`));
    });
  });
  return JSON.parse(output);
}

describe('the client does the same', () => {
  test('in Node.js', async () => {
    expect(await runIn(process.execPath, [], 'node')).toEqual(seenIn(true));
  });

  for (const { name, variable, options } of RUNTIMES) {
    const executable = process.env[variable];
    if (executable === undefined)
      process.stderr.write(`${name} is skipped: ${variable} names no executable\n`);
    (executable === undefined ? test.skip : test)(`in ${name}`, async () => {
      expect(await runIn(executable ?? '', options, variable)).toEqual(seenIn(true));
    });
  }

  /** A page of another origin, as that of somebody's application is. */
  let pages: Server;
  beforeAll(async () => {
    pages = createServer(({ url: path = '' }, response) => {
      const file = path === '/scenario.mjs' ? SCENARIO : join(DIST, path.replaceAll('..', ''));
      const isPage = path === '/';
      response.writeHead(200, { 'content-type': isPage ? 'text/html' : 'text/javascript' });
      response.end(isPage ? '<!doctype html><link rel="icon" href="data:,">' : readFileSync(file));
    });
    await new Promise<void>((listening) => void pages.listen(0, '127.0.0.1', listening));
  });
  afterAll(async () => {
    await new Promise((closed) => pages.close(closed));
  });

  browserTest('in a browser', async () => {
    // @NOTE a server that listens on TCP has such an address.
    const origin = `http://127.0.0.1:${String((pages.address() as AddressInfo).port)}`;
    const input = { url: service.url, token: tokenOf('browser'), path: null };
    const code = `Promise.all([import('/quire.js'), import('/scenario.mjs')]).then(([client, { runScenario }]) => runScenario(client, ${JSON.stringify(input)}))`;
    const browser = await startBrowser();
    try {
      const page = await browser?.newPage();
      await page?.goto(origin);
      expect(await page?.evaluate(code)).toEqual(seenIn(false));
    } finally {
      await browser?.close();
    }
  });
});
