import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { ShownRequest } from '../support/shown-requests.js';

/** Programs of others that read the OpenAPI document, by the variables that name their executables. */
export const TOOLS = {
  spectral: 'QUIRE_TEST_SPECTRAL',
  openapiTypescript: 'QUIRE_TEST_OPENAPI_TYPESCRIPT',
  openapiPythonClient: 'QUIRE_TEST_OPENAPI_PYTHON_CLIENT',
} as const;

export const findTool = (tool: keyof typeof TOOLS): string | null => process.env[TOOLS[tool]] ?? null;

interface ToolRun {
  readonly code: number;
  readonly output: string;
}

/** A folder that is removed at the end, with the document in it as `openapi.json`. */
async function withDocument<Result>(document: unknown, use: (folder: string) => Promise<Result>) {
  const folder = await mkdtemp(join(tmpdir(), 'quire-clients-'));
  try {
    await writeFile(join(folder, 'openapi.json'), JSON.stringify(document));
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs a program, which finds its own helpers beside it. */
function run(executable: string, options: readonly string[], cwd: string): Promise<ToolRun> {
  const env = { ...process.env, PATH: `${dirname(resolve(executable))}:${process.env['PATH'] ?? ''}` };
  return new Promise((done) => {
    execFile(executable, options, { cwd, env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      done({ code, output: stdout + stderr });
    });
  });
}

/** Judges the document by spectral's rules for OpenAPI; anything that it has to say is a failure. */
export const lint = (executable: string, document: unknown): Promise<ToolRun> =>
  withDocument(document, async (folder) => {
    await writeFile(join(folder, 'rules.yaml'), 'extends: ["spectral:oas"]\n');
    const options = ['lint', '--ruleset', 'rules.yaml', '--fail-severity', 'hint', 'openapi.json'];
    return run(executable, options, folder);
  });

/** Everything that TypeScript has to hold of a request: its body, and the part of its answer that a page shows. */
const HEAD = `import type { components, paths } from './openapi.js';
type Content<Holder> = Holder extends { content: { 'application/json': infer Json } } ? Json : never;
type Body<Operation> = Operation extends { requestBody?: infer Sent } ? Content<NonNullable<Sent>> : never;
type Answer<Operation> = Operation extends { responses: { 200: infer Got } } ? Content<Got> : never;
type Shown<Json> =
  | '…'
  | (Json extends readonly (infer Item)[] ? Shown<Item>[]
    : Json extends object ? { [Key in keyof Json]?: Shown<Json[Key]> } : Json);
type Filters = components['schemas']['Filters'];
`;

function typed(requests: readonly ShownRequest[]): string {
  return requests
    .flatMap(({ page, method, path, body, answer }, number) => {
      const operation = `paths['${path}']['${method}']`;
      const about = `// ${page}: ${method} ${path}\n`;
      const sent = `export const body${String(number)}: Body<${operation}> = ${JSON.stringify(body)};\n`;
      const got = `export const answer${String(number)}: Shown<Answer<${operation}>> = ${JSON.stringify(answer)};\n`;
      return [about, body === undefined ? '' : sent, answer === undefined ? '' : got];
    })
    .join('');
}

/** Makes types of the document by openapi-typescript, and lets TypeScript hold requests and `statements` against them. */
export const compile = (
  executable: string,
  document: unknown,
  { requests, statements }: { readonly requests: readonly ShownRequest[]; readonly statements: string },
): Promise<ToolRun> =>
  withDocument(document, async (folder) => {
    const made = await run(executable, ['openapi.json', '--output', 'openapi.d.ts'], folder);
    if (made.code !== 0) return made;
    await writeFile(join(folder, 'examples.ts'), HEAD + typed(requests) + statements);
    const compiler = resolve('node_modules/typescript/bin/tsc');
    const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext'];
    return run(process.execPath, [compiler, '--ignoreConfig', ...options, 'examples.ts'], folder);
  });

interface Address {
  readonly url: string;
  readonly token: string;
}

/** Makes a client in Python, and uses it. @returns the names of its functions beside what was said */
export const makePythonClient = (
  executable: string,
  document: unknown,
  { url, token }: Address,
): Promise<{ readonly made: ToolRun; readonly functions: readonly string[]; readonly used: ToolRun }> =>
  withDocument(document, async (folder) => {
    const options = ['generate', '--path', 'openapi.json', '--output-path', 'client', '--meta', 'none'];
    const made = await run(executable, options, folder);
    const files = made.code === 0 ? await readdir(join(folder, 'client', 'api'), { recursive: true }) : [];
    const functions = files
      .filter((file) => file.endsWith('.py') && !file.endsWith('__init__.py'))
      .map((file) => file.replace(/^.*\/|\.py$/g, ''));
    // The packages that a client imports are those of its maker, whose first line names their Python.
    const [, python = 'python3'] = /^#!(\S+)/.exec(await readFile(executable, 'utf8')) ?? [];
    const used = await run(python, [resolve('test/generated/use_client.py'), folder, url, token], '.');
    return { made, functions, used };
  });
