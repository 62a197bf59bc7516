import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startModels, type ModelsProcess } from '../support/models-process.js';

let models: ModelsProcess;
beforeAll(async () => {
  models = await startModels();
  await models.write('small.gguf', { kind: 'embedding' });
  await models.write('multilingual.gguf', { kind: 'embedding', unusedTokens: 150_000 });
});
afterAll(() => models.stop());

async function memoryBytes(): Promise<number> {
  const status = await readFile(`/proc/${String(models.process.child.pid)}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1_024;
}

async function embed(model: string): Promise<void> {
  expect((await models.post('/v1/embeddings', { model, input: 'some words' })).status).toBe(200);
}

test('a large vocabulary counts as the memory that it takes', async () => {
  await embed('small.gguf');
  const before = await memoryBytes();
  await embed('multilingual.gguf');
  const taken = (await memoryBytes()) - before;
  const metrics = await (await fetch(`${models.url}/metrics`)).text();
  const estimated = Number(/loaded_bytes\{model="multilingual.gguf"[^}]*\} (\d+)/.exec(metrics)?.[1]);
  expect(estimated / taken).toBeGreaterThan(0.6);
  expect(estimated / taken).toBeLessThan(3);
});

test('a model whose vocabulary does not fit the memory is refused before it is loaded', async () => {
  await models.restart('SIGTERM', { QUIRE_MODELS_MEMORY_MEGABYTES: '128' });
  // The engine itself is loaded with the first model.
  await embed('small.gguf');
  const before = await memoryBytes();
  const { status, body } = await models.post('/v1/embeddings', { model: 'multilingual.gguf', input: 'x' });
  expect({ status, error: body['error'] }).toMatchObject({
    status: 500,
    error: { code: 'too_large_for_memory' },
  });
  expect((await memoryBytes()) - before).toBeLessThan(128 * 1024 ** 2);
});
