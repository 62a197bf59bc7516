import { copyFile, mkdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { writeTinyModel } from '../../support/gguf/tiny-model.js';
import { runQuire, startQuire } from '../../support/run-quire.js';
import { until } from '../../support/until.js';
import { filesOf, useModelPulls } from '../../support/use-model-pulls.js';

const world = useModelPulls();
const quire = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runQuire(['models', ...args], world.environment(env));

/** The cells of each line that begins with a name. */
const rowsOf = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));

beforeEach(async () => {
  await mkdir(world.models, { recursive: true });
});

describe('npx quire models list', () => {
  test('shows each kind with what the settings use, and what is damaged, without a service', async () => {
    const at = (name: string) => join(world.models, name);
    writeTinyModel(at('chat.gguf'), { kind: 'chat', contextSize: 16_384 });
    writeTinyModel(at('embed.gguf'), { kind: 'embedding', dimension: 96 });
    writeTinyModel(at('rank.gguf'), { kind: 'ranking', contextSize: 256 });
    await copyFile(at('embed.gguf'), at('cut.gguf'));
    await truncate(at('cut.gguf'), (await readFile(at('cut.gguf'))).length - 1);
    await writeFile(at('page.gguf'), '<html>');
    await symlink(at('embed.gguf'), at('link.gguf'));
    await writeFile(at('README.md'), 'no model');
    const { code, stdout } = await quire(['list'], {
      QUIRE_EMBEDDER: 'local',
      QUIRE_EMBEDDING_MODEL: 'embed.gguf',
      QUIRE_COMPLETER: 'local',
      QUIRE_COMPLETION_MODEL: 'away.gguf',
    });
    expect(code).toBe(0);
    expect(rowsOf(stdout)).toEqual([
      ['NAME', 'KIND', 'MB', 'DIMENSIONS', 'WINDOW', 'FINGERPRINT', 'USED BY'],
      ['chat.gguf', 'chat', expect.any(String), '64', '8192', expect.stringMatching(/^[0-9a-f]{16}$/)],
      ['cut.gguf', 'damaged', expect.any(String), 'is not whole'],
      ['embed.gguf', 'embedding', expect.any(String), '96', '512', expect.any(String), 'embedder'],
      ['page.gguf', 'damaged', '0.0', 'is no GGUF file, or is damaged'],
      ['rank.gguf', 'ranking', expect.any(String), '64', '256', expect.any(String)],
      ['away.gguf: is not here, and completer = "local" needs it'],
    ]);
  });

  test('a header that states more than the file has is damaged, however much it states', async () => {
    const uint32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer);
    const uint64 = (value: bigint) => Buffer.from(BigUint64Array.of(value).buffer);
    const write = (name: string, ...parts: Buffer[]) =>
      writeFile(
        join(world.models, name),
        Buffer.concat([Buffer.from('GGUF'), uint32(3), ...parts, Buffer.alloc(4_096)]),
      );
    const key = Buffer.concat([uint64(3n), Buffer.from('a.b')]);
    await write('entries.gguf', uint64(1n), uint64(2n ** 40n));
    await write('tensors.gguf', uint64(2n ** 40n), uint64(0n));
    await write('string.gguf', uint64(1n), uint64(1n), uint64(2n ** 40n));
    await write('strings.gguf', uint64(1n), uint64(1n), key, uint32(9), uint32(8), uint64(2n ** 50n));
    await write('numbers.gguf', uint64(1n), uint64(1n), key, uint32(9), uint32(4), uint64(2n ** 63n));
    await write('nested.gguf', uint64(1n), uint64(1n), key, uint32(9), uint32(9), uint64(2n ** 50n));
    const { code, stdout } = await quire(['list']);
    expect(code).toBe(0);
    const [, ...rows] = rowsOf(stdout);
    expect(rows).toHaveLength(6);
    for (const row of rows)
      expect(row).toEqual([expect.any(String), 'damaged', '0.0', 'is no GGUF file, or is damaged']);
  }, 60_000);

  test('a header with an array that no memory could hold is damaged, although the file has all of it', async () => {
    const path = join(world.models, 'vast.gguf');
    const items = 200 * 1024 ** 2;
    const header = Buffer.alloc(51);
    header.write('GGUF');
    header.writeUInt32LE(3, 4);
    header.writeBigUInt64LE(1n, 16);
    header.writeBigUInt64LE(3n, 24);
    header.write('a.b', 32);
    header.writeUInt32LE(9, 35);
    header.writeBigUInt64LE(BigInt(items), 43);
    await writeFile(path, header);
    await truncate(path, header.length + items);
    const { code, stdout } = await quire(['list']);
    expect(code).toBe(0);
    expect(rowsOf(stdout)[1]).toEqual([
      'vast.gguf',
      'damaged',
      expect.any(String),
      'is no GGUF file, or is damaged',
    ]);
  }, 120_000);

  test('says how to get one where there are none', async () => {
    const { code, stdout } = await quire(['list']);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `There are no models in ${world.models}: npx quire models pull\n`,
    });
  });
});

describe('npx quire models remove', () => {
  test('removes a model, but one that a setting names only when it is forced to', async () => {
    for (const name of ['one.gguf', 'two.gguf'])
      writeTinyModel(join(world.models, name), { kind: 'embedding' });
    const env = { QUIRE_EMBEDDER: 'local', QUIRE_EMBEDDING_MODEL: 'one.gguf' };
    expect(await quire(['remove', 'two.gguf'], env)).toMatchObject({
      code: 0,
      stdout: 'two.gguf is removed.\n',
    });
    const refused = await quire(['remove', 'one.gguf'], env);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('embedder = "local" uses one.gguf');
    expect(await filesOf(world.models)).toEqual(['one.gguf']);
    expect(await quire(['remove', '--force', 'one.gguf'], env)).toMatchObject({ code: 0 });
    expect(await filesOf(world.models)).toEqual([]);
    expect(await quire(['remove', 'one.gguf'])).toMatchObject({
      code: 1,
      stderr: `There is no one.gguf in ${world.models}.\n`,
    });
  });

  test('removes what a pull has left, but not while it runs', async () => {
    world.serve(world.path, { pauseMs: 100 });
    const { child, ended } = startQuire(['models', 'pull', world.source], world.environment());
    await until(() => world.server.sentOf(world.path) >= 64 * 1024);
    const early = await quire(['remove', world.file]);
    expect(early.stderr).toBe(`Another command pulls or removes ${world.file} just now.\n`);
    child.kill('SIGKILL');
    await ended;
    expect(await filesOf(world.models)).toHaveLength(2);
    expect(await quire(['remove', world.file])).toMatchObject({
      code: 0,
      stdout: `What was pulled of ${world.file} is removed.\n`,
    });
    expect(await filesOf(world.models)).toEqual([]);
  });

  test.each(['../../package.json', '.fingerprints.json', '/etc/passwd', 'link.gguf', 'folder.gguf'])(
    'does not touch %s',
    async (name) => {
      await writeFile(join(world.models, '.fingerprints.json'), '{}');
      await symlink(join(world.folder, world.file), join(world.models, 'link.gguf'));
      await mkdir(join(world.models, 'folder.gguf'));
      expect(await quire(['remove', '--force', name])).toMatchObject({ code: 1, stdout: '' });
      expect(await filesOf(world.models)).toEqual(['.fingerprints.json', 'folder.gguf', 'link.gguf']);
    },
  );
});
