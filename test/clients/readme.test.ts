import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import ts from 'typescript';
import { compileText } from '../support/compile-text.js';
import { EVERYDAY } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';

const service = useService({ env: EVERYDAY });

/** The blocks of a page in TypeScript, one after the other, and the lines that they say they print. */
function examplesOf(page: string) {
  const blocks = [...readFileSync(page, 'utf8').matchAll(/^```ts\n([^]*?)^```/gm)];
  const code = blocks.map(([, block = '']) => block).join('\n');
  const printed = [...code.matchAll(/\/\/ → (.+)$/gm)].map(([, line = '']) => line);
  return { code, printed };
}

/** Runs a program in a folder where this client is installed. */
async function run(code: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'quire-readme-'));
  try {
    await mkdir(join(folder, 'node_modules/@langchain'), { recursive: true });
    await symlink(resolve('clients/typescript'), join(folder, 'node_modules/quire-client'));
    await symlink(resolve('clients/langchain'), join(folder, 'node_modules/quire-langchain'));
    await symlink(resolve('node_modules/@langchain/core'), join(folder, 'node_modules/@langchain/core'));
    const compilerOptions = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext };
    const { outputText } = ts.transpileModule(code, { compilerOptions });
    await writeFile(join(folder, 'example.mjs'), outputText);
    const stdout = await new Promise<string>((done, fail) => {
      execFile(process.execPath, ['example.mjs'], { cwd: folder }, (error, out, stderr) => {
        if (error === null) done(out);
        else fail(new Error(`${error.message}\n${stderr}`));
      });
    });
    return stdout.trimEnd().split('\n');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test.each(['clients/typescript/README.md', 'docs/how-to/use-langchain.md'])(
  'the examples of %s compile, and print what they say',
  async (page) => {
    const { code, printed } = examplesOf(page);
    expect(printed.length).toBeGreaterThan(1);
    expect(compileText(code)).toEqual([]);
    const token = service.client(page).authorization.replace('Bearer ', '');
    const here = code.replace("url: 'http://127.0.0.1:8000'", `url: '${service.url}', token: '${token}'`);
    expect(await run(here)).toEqual(printed);
  },
);

test('the page of the client is at most sixty lines', () => {
  expect(
    readFileSync('clients/typescript/README.md', 'utf8').trimEnd().split('\n').length,
  ).toBeLessThanOrEqual(60);
});
