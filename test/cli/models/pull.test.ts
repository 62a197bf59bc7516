import { createHash } from 'node:crypto';
import { lstat, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { recommendedEmbedding } from '../../../src/shared/local-models/recommended.js';
import { writeTinyModel } from '../../support/gguf/tiny-model.js';
import { startModelServer } from '../../support/model-server.js';
import { runQuire, startQuire } from '../../support/run-quire.js';
import { until } from '../../support/until.js';
import { filesOf, useModelPulls } from '../../support/use-model-pulls.js';

const world = useModelPulls();

describe('npx quire models pull', () => {
  test.each([
    ['hf:me/tiny:tiny-embedding.gguf', world.path],
    ['hf:me/tiny/tiny-embedding.gguf', world.path],
    ['hf:me/tiny:parts/small/tiny-embedding.gguf#v1.0', `/me/tiny/resolve/v1.0/parts/small/${world.file}`],
  ])('brings %s', async (source, path) => {
    world.serve(path, { linkedEtag: `"${world.sha256}"`, linkedSize: world.body.length });
    const { code, stdout, stderr } = await world.pull([source]);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toContain(`${world.file} (0.5 MB, embedding, window 512) is in ${world.models}`);
    expect(stdout).toContain(`embedder = "local", and in [embedding]: model = "${world.file}"`);
    expect(stderr).toMatch(/100 %, 0\.5 of 0\.5 MB/);
    expect(stderr).not.toContain('\u001b');
    expect(await readFile(join(world.models, world.file))).toEqual(world.body);
    expect(await filesOf(world.models)).toEqual([world.file]);
  });

  test.each(['english', 'other'] as const)(
    'without a name brings what is recommended for %s',
    async (language) => {
      const { source, file, megabytes } = recommendedEmbedding[language];
      const [repository = '', path = ''] = source.slice('hf:'.length).split(':');
      world.serve(`/${repository}/resolve/main/${path}`);
      const { code, stdout, stderr } = await world.pull([], { QUIRE_MODELS_LANGUAGE: language });
      expect(code).toBe(0);
      expect(stderr).toContain(`Taking ${file} (${String(megabytes)} MB)`);
      // The name that the settings mean by themselves needs no second setting.
      expect(stdout).toMatch(/use it {5}embedder = "local"$/m);
      expect(await filesOf(world.models)).toEqual([file]);
    },
  );

  test('brings the file of an address and of a path, under another name if asked', async () => {
    world.serve('/a/b.gguf');
    expect(
      await world.pull([`${world.server.url}/a/b.gguf`, '--sha256', world.sha256.toUpperCase()]),
    ).toMatchObject({ code: 0 });
    const link = join(world.data, 'a-link-in-some-cache');
    await symlink(join(world.folder, world.file), link);
    expect(await world.pull([link, '--as', 'copied.gguf'])).toMatchObject({ code: 0 });
    expect(await filesOf(world.models)).toEqual(['b.gguf', 'copied.gguf']);
    const copied = await lstat(join(world.models, 'copied.gguf'));
    expect([copied.isFile(), copied.nlink]).toEqual([true, 1]);
    expect(await readFile(join(world.models, 'copied.gguf'))).toEqual(world.body);
  });

  test('puts it into models.dir', async () => {
    const elsewhere = join(world.data, 'else', 'where');
    expect(await world.pull([join(world.folder, world.file)], { QUIRE_MODELS_DIR: elsewhere })).toMatchObject(
      { code: 0 },
    );
    expect(await filesOf(elsewhere)).toEqual([world.file]);
  });

  test('killed in the middle, it goes on where it was; meanwhile there is no file of that name', async () => {
    world.serve(world.path, { linkedEtag: `"${world.sha256}"`, pauseMs: 100 });
    const { child, ended } = startQuire(['models', 'pull', world.source], world.environment());
    await until(() => world.server.sentOf(world.path) >= 96 * 1024);
    child.kill('SIGKILL');
    await ended;
    const [part = '', note = '', ...others] = await filesOf(world.models);
    expect([part, note, others]).toEqual([`.${world.file}.part`, `.${world.file}.part.json`, []]);
    const had = (await lstat(join(world.models, part))).size;
    expect(had).toBeGreaterThan(64 * 1024);
    expect(had).toBeLessThan(world.body.length);
    expect((await runQuire(['models', 'list'], world.environment())).stdout).toMatch(
      /0\.1 of 0\.5 MB are pulled/,
    );

    world.server.seen.length = 0;
    world.serve(world.path, { linkedEtag: `"${world.sha256}"` });
    expect(await world.pull([world.source])).toMatchObject({ code: 0 });
    expect(world.server.sentOf(world.path)).toBe(world.body.length - had);
    expect(await readFile(join(world.models, world.file))).toEqual(world.body);
    expect(await filesOf(world.models)).toEqual([world.file]);
  });

  test('stopped with Ctrl-C, it says so and goes on later', async () => {
    world.serve(world.path, { pauseMs: 100 });
    const { child, ended } = startQuire(['models', 'pull', world.source], world.environment());
    await until(() => world.server.sentOf(world.path) >= 96 * 1024);
    child.kill('SIGINT');
    const { code, stderr } = await ended;
    expect({ code, stderr }).toMatchObject({ code: 1 });
    expect(stderr).toMatch(/Stopped\. The same command goes on from here\.\n$/);
    const sent = world.server.sentOf(world.path);
    world.serve(world.path);
    expect(await world.pull([world.source])).toMatchObject({ code: 0 });
    expect(world.server.sentOf(world.path) - sent).toBeLessThan(world.body.length - 64 * 1024);
    expect(await readFile(join(world.models, world.file))).toEqual(world.body);
  });

  test('lets one at a time pull a file', async () => {
    world.serve(world.path, { pauseMs: 100 });
    const first = startQuire(['models', 'pull', world.source], world.environment());
    await until(() => world.server.sentOf(world.path) > 0);
    const second = await world.pull([world.source]);
    expect(second).toMatchObject({ code: 1, stdout: '' });
    expect(second.stderr).toContain(`Another command pulls or removes ${world.file} just now.`);
    expect(await first.ended).toMatchObject({ code: 0 });
    expect(await readFile(join(world.models, world.file))).toEqual(world.body);
  });

  test('of a file that is there already changes nothing, and of another one is refused', async () => {
    world.serve(world.path, { linkedEtag: `"${world.sha256}"` });
    expect(await world.pull([world.source])).toMatchObject({ code: 0 });
    const before = await lstat(join(world.models, world.file));
    expect(await world.pull([world.source])).toMatchObject({ code: 0 });
    writeTinyModel(join(world.folder, 'other.gguf'), { kind: 'embedding', seed: 2 });
    const other = await readFile(join(world.folder, 'other.gguf'));
    world.serve(world.path, { body: other, linkedEtag: createHash('sha256').update(other).digest('hex') });
    for (const source of [world.source, join(world.folder, 'other.gguf')]) {
      const { code, stderr } = await world.pull([source, '--as', world.file]);
      expect({ code, stderr }).toMatchObject({ code: 1 });
      expect(stderr).toContain(`Another file of the name ${world.file} is there.`);
    }
    world.server.files.clear();
    world.server.close();
    const offline = await world.pull([world.source]);
    world.server = await startModelServer();
    expect(offline).toMatchObject({ code: 0 });
    expect(offline.stderr).toContain('was not compared');
    expect(await lstat(join(world.models, world.file))).toEqual(before);
  });
});
