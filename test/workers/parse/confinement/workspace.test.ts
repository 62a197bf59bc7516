import { chown, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { as, createParserWorkers, isAlive, untilReady } from '../../../support/parser-workers.js';
import { endlessPdf } from '../../../support/pdfs.js';
import { until } from '../../../support/until.js';

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

let workers: Awaited<ReturnType<typeof createParserWorkers>>;
beforeEach(async () => {
  workers = await createParserWorkers();
});
afterEach(() => workers.remove());

describe.each([
  ['root', []],
  ['another user', as(1_234)],
] as const)('files of a worker that is %s', (name, wrapper) => {
  const run = name === 'root' || isRoot ? test : test.skip;
  const left = async () =>
    (await readdir(join(workers.folder, 'tmp'))).filter((each) => each.startsWith('quire-'));

  run('are gone after it', async () => {
    const document = join(workers.folder, 'page.html');
    await writeFile(document, '<p>Words.</p>');
    const worker = workers.start({ wrapper, document, format: 'html' });
    await until(() => worker.lines().some(({ chunks }) => chunks !== undefined));
    expect(await left()).toHaveLength(1);
    const [workspace = ''] = await left();
    const folders = (await readdir(join(workers.folder, 'tmp', workspace))).filter((each) =>
      each.startsWith('parser-'),
    );
    expect(folders).toHaveLength(2);
    for (const each of folders)
      expect(await readdir(join(workers.folder, 'tmp', workspace, each))).toEqual([]);
    worker.process.kill('SIGTERM');
    await worker.exit;
    expect(await left()).toEqual([]);
    expect(await readFile(document, 'utf8')).toBe('<p>Words.</p>');
  });

  run(
    'are gone at the next start after a kill, and its parsers at once; those of the living stay',
    async () => {
      const document = join(workers.folder, 'endless.pdf');
      await writeFile(document, endlessPdf());
      const killed = workers.start({ wrapper, document, format: 'pdf' });
      const living = workers.start({ wrapper });
      const parsers = await untilReady(killed);
      await untilReady(living);
      const copies = async () =>
        (await readdir(join(workers.folder, 'tmp'), { recursive: true })).filter((each) =>
          /parser-[^/]*\//.test(each),
        );
      await until(async () => (await copies()).length === 1);
      killed.process.kill('SIGKILL');
      await until(async () => !(await Promise.all(parsers.map(isAlive))).includes(true));
      expect(await left()).toHaveLength(2);
      const next = workers.start({ wrapper });
      await untilReady(next);
      expect(await left()).toHaveLength(2);
      expect(await copies()).toEqual([]);
      living.process.kill('SIGTERM');
      next.process.kill('SIGTERM');
      await Promise.all([living.exit, next.exit]);
      expect(await left()).toEqual([]);
    },
  );
});

(isRoot ? test : test.skip)(
  'what a parser has left of traps in its folder leads nowhere when that is removed',
  async () => {
    const victim = join(workers.folder, 'victim');
    await mkdir(victim);
    await writeFile(join(victim, 'kept'), 'x');
    await chown(victim, NOBODY, NOBODY);
    const code = `
    import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
    mkdirSync('closed/inner', { recursive: true });
    writeFileSync('closed/inner/file', 'x');
    symlinkSync('/etc', 'closed/etc');
    symlinkSync('/etc/hostname', '.hidden');
    chmodSync('closed', 0);
    process.stdout.write('"set"');`;
    expect((await workers.runInside(code)).inside).toBe('set');
    expect(await readdir(join(workers.folder, 'tmp'))).toEqual([]);
    expect(await readdir(victim)).toEqual(['kept']);
    expect((await readdir('/etc')).length).toBeGreaterThan(10);
  },
);
