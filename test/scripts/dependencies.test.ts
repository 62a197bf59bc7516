import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

const root = join(import.meta.dirname, '../..');
const script = join(root, 'scripts/dependencies/main.mjs');

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quire-dependencies-'));
  await mkdir(join(folder, 'scripts/dependencies'), { recursive: true });
  await writeFile(
    join(folder, 'scripts/dependencies/README.md'),
    '# Mine\n\n<!-- The rest is written by `npm run dependencies`. -->\n',
  );
});
afterEach(() => rm(folder, { recursive: true }));

function run(...args: string[]) {
  const { status, stdout } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });
  return { status, stdout };
}

const lock = (packages: Readonly<Record<string, object>>) =>
  writeFile(
    join(folder, 'package-lock.json'),
    JSON.stringify({ packages: { '': { dependencies: { first: '1' } }, ...packages } }),
  );

const licensed = (license?: string) =>
  lock({
    'node_modules/first': license === undefined ? { version: '1.0.0' } : { version: '1.0.0', license },
  });

describe('the table of dependencies', () => {
  test('names the version and the licence of every package that production takes, and which asks for it', () => {
    expect(run('--check')).toEqual({ status: 0, stdout: '' });
  });

  test('says through which packages another is there, and leaves out those of development', async () => {
    await lock({
      'node_modules/first': { version: '1.0.0', license: 'MIT', dependencies: { second: '1' } },
      'node_modules/second': { version: '2.0.0', license: 'MIT', dev: true },
      'node_modules/first/node_modules/second': {
        version: '1.5.0',
        license: 'ISC',
        optionalDependencies: { third: '1' },
      },
      'node_modules/third': { version: '3.0.0', license: 'MIT' },
      'node_modules/replaced': { name: 'third', version: '3.0.0', license: 'GPL-3.0-only', optional: true },
    });
    expect(run('', folder).status).toBe(0);
    const rows = (await readFile(join(folder, 'scripts/dependencies/README.md'), 'utf8'))
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) => line.replace(/ +/g, ' '));
    expect(rows.toSorted()).toEqual([
      '| `first` | 1.0.0 | MIT | – | direct |',
      '| `second` | 1.5.0 | ISC | – | first |',
      '| `third` | 3.0.0 | MIT | – | first › second |',
    ]);
  });

  test.each([
    ['>=20.19.0', true],
    ['^20.19.0 || ^22.13.0 || >=23.5.0', true],
    ['20 || >=22', true],
    ['^22.22.2 || >=24.15.0', false],
    ['^20.19.0 || ^22.14.0 || >=24', false],
    ['>=20 <24', false],
  ])('takes a package that runs on Node.js %s, of which npm would not warn: %s', async (node, isTaken) => {
    await lock({
      '': { dependencies: { first: '1' }, engines: { node: '^20.19.0 || ^22.13.0 || >=24' } },
      'node_modules/first': { version: '1.0.0', license: 'MIT', engines: { node } },
    });
    run('', folder);
    const { status, stdout } = run('--check', folder);
    expect(status).toBe(isTaken ? 0 : 1);
    if (!isTaken) expect(stdout).toContain(`first 1.0.0 runs on Node.js ${node}, which is less than`);
  });

  test('fails when it does not fit the lock file, whatever the sizes are', async () => {
    await licensed('MIT');
    expect(run('--check', folder).status).toBe(1);
    run('', folder);
    expect(run('--check', folder)).toEqual({ status: 0, stdout: '' });
    await mkdir(join(folder, 'node_modules/first'), { recursive: true });
    await writeFile(join(folder, 'node_modules/first/index.js'), 'x'.repeat(9_999_999));
    expect(run('--check', folder).status).toBe(0);
    await lock({ 'node_modules/first': { version: '1.0.1', license: 'MIT' } });
    const { status, stdout } = run('--check', folder);
    expect(status).toBe(1);
    expect(stdout).toContain('lacks: `first` | 1.0.1 | MIT | direct');
    expect(stdout).toContain('out of date: `first` | 1.0.0 | MIT | direct');
  });

  test.each(['MIT', '(GPL-2.0-only OR MIT)', '(ISC AND (MIT OR GPL-3.0-only))'])(
    'takes a package under %s',
    async (licence) => {
      await licensed(licence);
      expect(run('', folder)).toEqual({ status: 0, stdout: '' });
    },
  );

  test.each([
    'GPL-3.0-only',
    'AGPL-3.0-or-later',
    'MIT AND GPL-3.0-only',
    'MIT OR',
    '(MIT',
    'GPL-2.0-only WITH Classpath-exception-2.0',
    'SEE LICENSE IN LICENSE.md',
    undefined,
  ])('fails for a package under %s', async (licence) => {
    await licensed(licence);
    const { status, stdout } = run('', folder);
    expect(status).toBe(1);
    expect(stdout).toContain(`first 1.0.0: licence ${licence ?? 'none that is known'} is not allowed`);
  });
});
