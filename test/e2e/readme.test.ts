import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { startService, type Service } from '../support/service.js';

/** The pages with examples, in the order in which a reader meets them. */
const pages = [
  'README.md',
  'docs/tutorial/first-answer.md',
  'docs/reference/api.md',
  'docs/reference/batches.md',
  'docs/how-to/keep-in-step.md',
  'docs/how-to/monitor.md',
];
const read = (page: string) => readFileSync(page, 'utf8');
const ADDRESS = '127.0.0.1:8000';

interface Example {
  /** The paths that it asks for. */
  readonly name: string;
  readonly script: string;
  /** JSON that the README shows below it; null where it shows none. */
  readonly shown: string | null;
}

/** Shell blocks that ask the running service, each with the block of JSON that follows it. */
const examples: Example[] = pages
  .flatMap((page) => [...read(page).matchAll(/^```sh\n([^]*?)^```\n(?:\n```json\n([^]*?)^```\n)?/gm)])
  .flatMap(([, script = '', shown = null]) => {
    const paths = [...script.matchAll(/127\.0\.0\.1:8000(\/[\w/]+)/g)].map(([, path]) => path);
    return paths.length > 0 ? [{ name: paths.join(', '), script, shown }] : [];
  });

const hasTools = ['curl', 'bash'].every((tool) => spawnSync(tool, ['--version']).status === 0);
if (!hasTools) console.warn('skipped: the examples of the README need curl and bash');

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** As pasted, in the clone, beside a fresh `npm start`; only the port is another. */
function paste(script: string, service: Service): Promise<Outcome> {
  const env = { PATH: process.env['PATH'], HOME: homedir(), QUIRE_DATA_DIR: service.dataDirectory };
  return new Promise((resolve) => {
    execFile('bash', ['-c', here(script, service)], { env, timeout: 200_000 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? -1) : 0, stdout, stderr });
    });
  });
}

function here(text: string, { url }: Service): string {
  return text.replaceAll(ADDRESS, url.replace('http://', ''));
}

/** The expectation of an answer that a page shows: `…` is anything, objects may hold more, scores are rounded. */
function expectation(shown: unknown): unknown {
  if (typeof shown === 'number' && !Number.isInteger(shown)) return expect.closeTo(shown, 1);
  if (shown === '…') return expect.anything();
  if (typeof shown === 'string' && shown.includes('…')) {
    const parts = shown.split('…').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
    return expect.stringMatching(new RegExp(`^${parts.join('[^]+')}$`));
  }
  if (Array.isArray(shown)) return shown.map(expectation);
  if (typeof shown !== 'object' || shown === null) return shown;
  const entries = Object.entries(shown).map(([key, value]) => [key, expectation(value)] as const);
  return expect.objectContaining(Object.fromEntries(entries));
}

let service: Service;

beforeAll(async () => {
  // Without a secret, as in dev mode: it is made in the data folder, where the command line finds it.
  service = await startService({ env: { JWT_SECRET_KEY: '' } });
});

afterAll(async () => {
  await service.stop();
});

describe('the README and the pages behind it', () => {
  test('shows all that a newcomer wants to try, with what it prints', () => {
    const withOutput = examples.filter(({ shown }) => shown !== null);
    const wanted = ['/ingest/text', '/ingest/file', '/retrieve/chunks', '/query', '/cache/create'];
    expect(withOutput.map(({ name }) => name)).toEqual(
      expect.arrayContaining([...wanted, '/cache/books/query', '/local/generate_uri']),
    );
    expect(withOutput.map(({ script }) => script).join('')).toContain('npx quire token');
  });

  (hasTools ? test : test.skip).each(examples)(
    'shows a command that works as pasted and prints what is said: $name',
    async ({ script, shown }) => {
      const { code, stdout, stderr } = await paste(script, service);
      expect({ code, stderr }).toMatchObject({ code: 0 });
      expect(stdout).not.toBe('');
      if (shown === null) return;
      const printed: unknown = JSON.parse(stdout);
      expect(printed).toEqual(expectation(JSON.parse(here(shown, service))));
    },
  );

  test('names every endpoint, and none that there is not', async () => {
    const page = z
      .object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })
      .parse(await (await fetch(`${service.url}/openapi.json`)).json());
    const served = Object.entries(page.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const named = [...read('docs/reference/api.md').matchAll(/^\| `([A-Z]+ \/[^`]*)`/gm)].map(
      ([, request]) => request,
    );
    expect(named.sort()).toEqual(served.sort());
  });
});
