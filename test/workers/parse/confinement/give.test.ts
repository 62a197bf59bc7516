import { execFileSync } from 'node:child_process';
import { link, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createParserFolder } from '../../../../src/workers/parse/confinement/parser-folder.js';

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quire-give-'));
  await mkdir(join(directory, 'incoming'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));
const incoming = () => join(directory, 'incoming');
const open = () => createParserFolder(directory, { incoming: incoming(), user: null });

test('a file that a parser has written is copied to where only the worker is, and removed from its folder', async () => {
  const folder = open();
  await writeFile(join(folder.path, 'attachment'), 'content');
  const copy = await folder.give('attachment', 7);
  expect(await readFile(copy, 'utf8')).toBe('content');
  expect(copy.startsWith(incoming())).toBe(true);
  expect(await readdir(folder.path)).toEqual([]);
  await writeFile(join(folder.path, 'empty'), '');
  expect(await readFile(await folder.give('empty', 7), 'utf8')).toBe('');
});

test('links, pipes, folders, what is elsewhere and what is too long are refused', async () => {
  const folder = open();
  const secret = join(directory, 'secret');
  await writeFile(secret, 'secret');
  await symlink(secret, join(folder.path, 'symbolic'));
  await link(secret, join(folder.path, 'hard'));
  execFileSync('/bin/sh', ['-c', 'mkfifo "$0"', join(folder.path, 'pipe')]);
  await mkdir(join(folder.path, 'folder'));
  await writeFile(join(folder.path, 'long'), '12345678');
  const before = await readdir(incoming());
  for (const name of ['symbolic', 'hard', 'pipe', 'folder', 'long', '../secret', 'missing'])
    await expect(folder.give(name, 7)).rejects.toThrow();
  expect(await readdir(incoming())).toEqual(before);
});
