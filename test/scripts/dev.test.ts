import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { compileFile } from '../../scripts/dev/compile.mjs';
import { touchedBy } from '../../scripts/dev/imports.mjs';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'quire-dev-'));
  await writeFile(
    join(root, 'tsconfig.build.json'),
    JSON.stringify({ compilerOptions: { target: 'ES2023', module: 'NodeNext', sourceMap: true } }),
  );
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function put(path: string, text: string): Promise<string> {
  const file = join(root, path);
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, text);
  return file;
}

test('one file is compiled to an ES module, and removed when it is gone', async () => {
  const source = await put(
    'src/a/b.ts',
    'import type { C } from "./c.js";\nexport const b: C = 1 as const;\n',
  );
  const target = await compileFile(source, root);
  expect(target).toBe(join(root, 'dist/a/b.js'));
  expect(await readFile(target, 'utf8')).toContain('export const b = 1;');
  expect(await readFile(target, 'utf8')).not.toContain('import');
  expect(JSON.parse(await readFile(`${target}.map`, 'utf8'))).toMatchObject({
    sources: ['../../src/a/b.ts'],
  });
  await rm(source);
  await compileFile(source, root);
  await expect(readFile(target)).rejects.toThrow('ENOENT');
});

test('a file imports the packages that the build bundles as others do', async () => {
  const names = ['zod', 'redis', 'pino'];
  const imports = names.map((name) => `import * as ${name} from '${name}';\n`);
  const [first] = names;
  const source = await put(
    'src/a/b.ts',
    `${imports.join('')}export const all = [${names.join()}, import('${String(first)}')];\n`,
  );
  const compiled = await readFile(await compileFile(source, root), 'utf8');
  const imported = [...compiled.matchAll(/(?:from |import\()['"](.*?)['"]/g)].map(([, name]) => name);
  const bundles = ['redis', 'zod', 'zod'].map((name) => `../packages/${name}.js`);
  expect(imported.sort()).toEqual([...bundles, 'pino']);
});

test('what is no TypeScript is refused with its place', async () => {
  const source = await put('src/a.ts', 'const = 1;\n');
  await expect(compileFile(source, root)).rejects.toThrow(/a\.ts\(1,7\)/);
});

test('a change touches the processes that run the file, by whatever way they reach it', async () => {
  const api = await put('dist/api.js', "import { s } from './shared.js';\nawait import('./late.js');\n");
  const workers = await put(
    'dist/workers.js',
    "export * from './shared.js';\nnew Worker(new URL('./thread.js', import.meta.url));\n",
  );
  const [shared, late, thread] = [
    await put('dist/shared.js', ''),
    await put('dist/late.js', ''),
    await put('dist/thread.js', ''),
  ];
  const processes = [
    { name: 'api', entry: api },
    { name: 'workers', entry: workers },
  ];
  expect(touchedBy([shared], processes)).toEqual(['api', 'workers']);
  expect(touchedBy([late], processes)).toEqual(['api']);
  expect(touchedBy([thread], processes)).toEqual(['workers']);
  expect(touchedBy([join(root, 'dist/other.js')], processes)).toEqual([]);
});
