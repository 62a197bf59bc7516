import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** No failure of the service, and no answer that its page does not declare. */
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'unsupported_method',
];

/** The place where it finds how lines of JSON are sent, which it does not know by itself. */
const HOOKS = {
  SCHEMATHESIS_HOOKS: 'lines_of_json',
  PYTHONPATH: fileURLToPath(new URL('.', import.meta.url)),
  PYTHONDONTWRITEBYTECODE: '1',
};

/** The executable of schemathesis, a Python package; null where none is named. */
export const findSchemathesis = (): string | null => process.env['QUIRE_TEST_SCHEMATHESIS'] ?? null;

export interface GeneratedRun {
  /** 0: nothing was found. */
  readonly code: number;
  readonly output: string;
}

/** Generates requests to everything that the OpenAPI page of `url` tells, right and wrong ones, from a seed. */
export async function runSchemathesis(
  executable: string,
  {
    url,
    headers,
    examples,
    seed,
  }: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    /** Requests of each route that are drawn, beside those that cover its borders. */
    readonly examples: number;
    readonly seed: number;
  },
): Promise<GeneratedRun> {
  const folder = await mkdtemp(join(tmpdir(), 'quire-generated-'));
  const options = [
    'run',
    `${url}/openapi.json`,
    '--url',
    url,
    '--checks',
    CHECKS.join(),
    '--seed',
    String(seed),
    '--phases',
    'examples,coverage,fuzzing',
    '--max-examples',
    String(examples),
    '--no-shrink',
    // Its own examples store, and its wish that generating be quick, do not matter here.
    '--continue-on-failure',
    '--request-timeout',
    '60',
    '--suppress-health-check',
    'all',
    '--warnings',
    'off',
    '--no-color',
    ...Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
  ];
  try {
    return await new Promise((resolve) => {
      const running = { cwd: folder, maxBuffer: 64 * 1024 * 1024, env: { ...process.env, ...HOOKS } };
      execFile(executable, options, running, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
        resolve({ code, output: stdout + stderr });
      });
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
