import { once } from 'node:events';
import { copyFile, lstat, mkdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { encoderModel } from '../../support/gguf/encoder-model.js';
import { writeGguf } from '../../support/gguf/write-gguf.js';
import { startModelServer } from '../../support/model-server.js';
import { startQuire } from '../../support/run-quire.js';
import { until } from '../../support/until.js';
import { filesOf, useModelPulls } from '../../support/use-model-pulls.js';

const world = useModelPulls();

describe('npx quire models pull', () => {
  test.each([
    {
      what: 'a page instead of a file',
      file: { body: Buffer.from('<html>'.repeat(1_000)), contentType: 'text/html' },
    },
    { what: 'other bytes than its hash says', file: { linkedEtag: 'a'.repeat(64) } },
    { what: 'another hash than was asked for', args: ['--sha256', 'b'.repeat(64)] },
    { what: 'more bytes than the disk has', file: { claimedLength: 10 ** 14 } },
  ])('refuses $what, and leaves nothing behind', async ({ file = {}, args = [] }) => {
    world.serve(world.path, file);
    const { code, stdout, stderr } = await world.pull([world.source, ...args]);
    expect({ code, stdout, stderr }).toMatchObject({ code: 1, stdout: '' });
    expect(stderr).toMatch(/no GGUF file \(text\/html\)|SHA-256 is|MB free/);
    expect(stderr).not.toMatch(/^ +at /m);
    expect((await filesOf(world.models)).filter((name) => name.endsWith('.part'))).toEqual([]);
    expect(await filesOf(world.models)).not.toContain(world.file);
  });

  test.each([
    ['the last byte', (path: string) => truncate(path, world.body.length - 1)],
    ['half', (path: string) => truncate(path, world.body.length / 2)],
    ['all but the beginning', (path: string) => truncate(path, 64)],
    [
      'its sense',
      (path: string) => writeFile(path, Buffer.concat([world.body.subarray(0, 8), Buffer.alloc(1_000, 255)])),
    ],
  ])('refuses a file that has lost %s, from a path and from an address', async (_, damage) => {
    const path = join(world.data, 'damaged.gguf');
    await copyFile(join(world.folder, world.file), path);
    await damage(path);
    world.serve('/damaged.gguf', { body: await readFile(path) });
    for (const source of [path, `${world.server.url}/damaged.gguf`]) {
      const { code, stderr } = await world.pull([source]);
      expect({ code, stderr }).toMatchObject({ code: 1 });
      expect(stderr).toMatch(/What came is (not whole|no GGUF file, or is damaged)\. It was removed\./);
      expect(await filesOf(world.models)).toEqual([]);
    }
  });

  test.each([
    'hf:me/tiny:../../etc/passwd.gguf',
    'hf:me/tiny:Q4_K_M',
    'hf:me:tiny.gguf',
    'hf:me/tiny:.hidden.gguf',
    'hf:me/tiny:model-00001-of-00003.gguf',
    'http://192.0.2.1/model.gguf',
    'ftp://localhost/model.gguf',
    'https://me:secret-word@localhost/model.gguf',
    'https://localhost/model.bin',
    'https://localhost/..%2Fmodel.gguf',
    'no/such/file.gguf',
    'package.json',
  ])('refuses %s before anything is asked for', async (source) => {
    const { code, stdout, stderr } = await world.pull([source]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).not.toMatch(/secret-word|^ +at /m);
    expect(world.server.seen).toEqual([]);
    expect((await filesOf(world.models)).filter((name) => !name.startsWith('.'))).toEqual([]);
  });

  test.each([
    '../out.gguf',
    '.hidden.gguf',
    'a/b.gguf',
    'with blank.gguf',
    'model.bin',
    '-x.gguf',
    'a..gguf',
    '',
  ])('refuses the name %p', async (name) => {
    const { code, stderr } = await world.pull([join(world.folder, world.file), `--as=${name}`]);
    expect(code).toBe(1);
    expect(stderr).toContain('allowed: a bare file name');
    expect(await filesOf(world.models)).toEqual([]);
  });

  test('refuses a part of a model whose name does not say that it is one', async () => {
    const shape = { name: 'part', seed: 1, dimension: 64, layers: 1 };
    const { metadata, tensors } = encoderModel(shape, { contextSize: 64, pooling: 'mean', unusedTokens: 0 });
    const split = {
      'split.no': { type: 'uint32', value: 0 },
      'split.count': { type: 'uint32', value: 3 },
    } as const;
    writeGguf(join(world.data, 'part.gguf'), { metadata: { ...metadata, ...split }, tensors });
    const { code, stderr } = await world.pull([join(world.data, 'part.gguf')]);
    expect({ code, stderr }).toMatchObject({ code: 1 });
    expect(stderr).toContain('What came is one of several parts');
    expect(await filesOf(world.models)).toEqual([]);
  });

  test('writes through no link, and over no folder', async () => {
    await mkdir(join(world.models, 'folder.gguf'), { recursive: true });
    await symlink(join(world.data, 'outside'), join(world.models, 'link.gguf'));
    await symlink(join(world.data, 'outside'), join(world.models, '.draft.gguf.part'));
    for (const name of ['folder.gguf', 'link.gguf'])
      expect(await world.pull([join(world.folder, world.file), '--as', name])).toMatchObject({ code: 1 });
    expect(await world.pull([join(world.folder, world.file), '--as', 'draft.gguf'])).toMatchObject({
      code: 0,
    });
    expect(await filesOf(world.data)).toEqual(['models']);
    expect((await lstat(join(world.models, 'draft.gguf'))).isFile()).toBe(true);
  });

  test('shows HF_TOKEN to Hugging Face alone, and to nobody who reads along', async () => {
    const elsewhere = await startModelServer();
    world.serve(world.path, { authorization: 'Bearer hf_secret-word', location: `${elsewhere.url}/bytes` });
    elsewhere.files.set('/bytes', { body: world.body });
    world.serve('/free.gguf');
    try {
      const without = await world.pull([world.source]);
      expect(without.stderr).toContain('set HF_TOKEN');
      const wrong = await world.pull([world.source], { HF_TOKEN: 'hf_other-word' });
      expect(wrong.stderr).toContain('The token of HF_TOKEN may not read it');
      const right = await world.pull([world.source], { HF_TOKEN: 'hf_secret-word' });
      expect(right).toMatchObject({ code: 0 });
      expect(elsewhere.seen).toMatchObject([{ authorization: undefined }]);
      const broken = await world.pull([world.source], { HF_TOKEN: 'hf_secret-word\n' });
      expect(broken).toMatchObject({ code: 1, stderr: 'HF_TOKEN has characters that no token has.\n' });
      const other = await world.pull([`${elsewhere.url}/bytes`, '--as', 'b.gguf'], {
        HF_TOKEN: 'hf_secret-word',
      });
      expect(other).toMatchObject({ code: 0 });
      expect(elsewhere.seen.at(-1)).toMatchObject({ authorization: undefined });
      for (const { stdout, stderr } of [without, wrong, right, broken, other])
        expect(stdout + stderr).not.toMatch(/(secret|other)-word/);
    } finally {
      elsewhere.close();
    }
  });

  test('without a network says who cannot be reached, where the file can be put, and what of the proxy', async () => {
    const nobody = await startModelServer();
    nobody.close();
    const host = new URL(nobody.url).host;
    const plain = await world.pull([world.source], { HF_ENDPOINT: nobody.url, HTTPS_PROXY: '' });
    expect(plain).toMatchObject({
      code: 1,
      stderr: [
        `${host} cannot be reached (ECONNREFUSED). The same command goes on from here.`,
        `Without a network here, download ${nobody.url}${world.path} elsewhere and put it at ${join(world.models, world.file)}, or set HF_ENDPOINT to a mirror of Hugging Face.`,
        '',
      ].join('\n'),
    });
    // HF_ENDPOINT is no mirror of other addresses, which may hold signatures.
    const signed = await world.pull([`${nobody.url}/b.gguf?signature=secret-word`]);
    expect(signed.stderr).toContain(`\nOr put the file at ${join(world.models, 'b.gguf')} by hand.\n`);
    expect(signed.stderr).not.toMatch(/HF_ENDPOINT|secret-word/);
    const proxied = await world.pull([world.source], {
      HF_ENDPOINT: nobody.url,
      HTTPS_PROXY: 'http://me:secret-word@127.0.0.1:3128',
    });
    expect(proxied.stderr).toContain('NODE_USE_ENV_PROXY=1');
    expect(proxied.stderr).not.toContain('secret-word');
  });

  test('says so where the folder cannot be written to', async () => {
    await writeFile(world.models, 'a file where the folder should be');
    const { code, stderr } = await world.pull([join(world.folder, world.file)]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/cannot be written to/);
    expect(stderr.split('\n')).toHaveLength(2);
  });

  test('a stop before anything came leaves nothing that hinders', async () => {
    world.serve(world.path, { hangsAfter: 0 });
    const { child, ended } = startQuire(['models', 'pull', world.source], world.environment());
    await until(() => world.server.seen.length > 0);
    child.kill('SIGINT');
    await Promise.race([ended, once(child, 'exit')]);
    world.serve(world.path);
    expect(await world.pull([world.source])).toMatchObject({ code: 0 });
    expect(await filesOf(world.models)).toEqual([world.file]);
  });
});
