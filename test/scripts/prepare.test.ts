import { spawnSync } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

const root = join(import.meta.dirname, '../..');
const own = process.versions.node;
const [major = 0, minor = 0] = own.split('.').map(Number);

let folder: string;

/** A clone in which nothing is installed, with an npm that says what it is asked for and does it. */
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quire-prepare-'));
  for (const name of ['scripts', 'src', 'dist', 'bin', 'node_modules'])
    await mkdir(join(folder, name), { recursive: true });
  await copyFile(join(root, 'scripts/prepare.mjs'), join(folder, 'scripts/prepare.mjs'));
  await promise(`>=${String(major)}`);
  for (const name of ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json'])
    await writeFile(join(folder, name), JSON.stringify({ packages: { '': {} } }));
  const npm = join(folder, 'bin/npm');
  const install = 'echo \'{"packages":{}}\' > node_modules/.package-lock.json';
  await writeFile(npm, `#!/bin/sh\necho "npm $*"\n[ "$1" = ci ] || exit 0\n${install}\n`);
  await chmod(npm, 0o755);
});
afterEach(() => rm(folder, { recursive: true }));

/** Writes which versions of Node.js the clone promises to run on. */
const promise = (node: string) =>
  writeFile(join(folder, 'package.json'), JSON.stringify({ engines: { node } }));

function prepare() {
  const code = "import { prepare } from './scripts/prepare.mjs'; prepare();";
  const PATH = `${join(folder, 'bin')}${delimiter}${process.env['PATH'] ?? ''}`;
  const args = ['--input-type=module', '-e', code];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    env: { PATH },
    encoding: 'utf8',
  });
  return { status, stdout, lines: stderr.trim().split('\n') };
}

describe('what npm start and npm test prepare', () => {
  test('is said in a line before each step that takes long, and in none when nothing is to be done', async () => {
    expect(prepare()).toEqual({
      status: 0,
      stdout: '',
      lines: [
        'Installing packages with npm ci, once (half a minute) …',
        'npm ci --include=dev',
        'Building dist/ from src/ (some ten seconds) …',
        'npm run --silent build:service',
      ],
    });
    expect(prepare()).toEqual({ status: 0, stdout: '', lines: [''] });
    const later = new Date(Date.now() + 5_000);
    await utimes(join(folder, 'src'), later, later);
    expect(prepare().lines).toEqual([expect.stringMatching(/^Building/), 'npm run --silent build:service']);
  });

  test.each([
    [`^18.20.0 || >=${String(major)}.${String(minor)}`, true],
    [`^${String(major)}.${String(minor)}.0 || ^98.0.0`, true],
    [`>=${String(major - 1)}.99`, true],
    [`^${String(major)}.${String(minor + 1)}.0 || ^98.13.0 || >=99`, false],
    [`^${String(major - 1)}.0.0`, false],
  ])('needs a Node.js of %s', async (engines, fits) => {
    await promise(engines);
    const { status, lines } = prepare();
    expect(status).toBe(fits ? 0 : 1);
    if (!fits) expect(lines).toEqual([expect.stringMatching(/^Quire needs Node\.js .+ or newer; this is /)]);
  });

  test('names the versions that package.json promises, as README and the other pages do', async () => {
    const text = await readFile(join(root, 'package.json'), 'utf8');
    expect(text).toContain('"node": "^20.19.0 || ^22.13.0 || >=24"');
    await promise('^1.19.0 || ^2.13.0 || >=99');
    expect(prepare().lines).toEqual([`Quire needs Node.js 1.19, 2.13, 99 or newer; this is ${own}.`]);
    for (const page of ['README.md', 'CONTRIBUTING.md', 'docs/tutorial/first-answer.md'])
      expect([page, await readFile(join(root, page), 'utf8')]).toEqual([
        page,
        expect.stringContaining('Node.js 20.19, 22.13, 24 or newer'),
      ]);
  });
});
