import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createModelCatalog } from '../../src/models/engine/model-catalog.js';
import { writeTinyModel } from '../support/gguf/tiny-model.js';
import { rejection } from '../support/rejection.js';

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quire-catalog-'));
});
afterAll(() => rm(directory, { recursive: true }));

test('the header of a file is read once for its content, whoever asks, and again for another content', async () => {
  let fingerprint = 'one';
  const fingerprints = { of: () => Promise.resolve(fingerprint) };
  const catalog = createModelCatalog({ directory, fingerprints, windowTokens: 4_096 });
  const path = join(directory, 'chat.gguf');
  writeTinyModel(path, { kind: 'chat' });
  const described = await catalog.describe('chat.gguf');
  expect(described).toMatchObject({ kind: 'chat', fingerprint: 'one' });
  // Only who reads it sees what became of it.
  await writeFile(path, 'garbage');
  expect(await catalog.describe('chat.gguf')).toMatchObject({ kind: 'chat', fingerprint: 'one' });
  expect(await catalog.list()).toHaveLength(1);
  fingerprint = 'two';
  expect(await rejection(catalog.describe('chat.gguf'))).toMatchObject({ code: 'invalid_model' });
  expect(await catalog.list()).toEqual([]);
  writeTinyModel(path, { kind: 'embedding' });
  expect(await rejection(catalog.describe('chat.gguf'))).toMatchObject({ code: 'invalid_model' });
  fingerprint = 'three';
  expect(await catalog.describe('chat.gguf')).toMatchObject({ kind: 'embedding', fingerprint: 'three' });
});
