import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startModels, type ModelsProcess } from '../support/models-process.js';

let models: ModelsProcess;
beforeAll(async () => {
  // Room for the model of vectors, and too little for the conversations of the other.
  models = await startModels({ QUIRE_MODELS_MEMORY_MEGABYTES: '64', QUIRE_MODELS_CONVERSATIONS: '64' });
  await models.write('embed.gguf', { kind: 'embedding' });
  for (let seed = 0; seed < 60; seed += 1)
    await models.write(`vast-${String(seed)}.gguf`, { kind: 'chat', seed });
});
afterAll(() => models.stop());

test('models that are loaded answer at once while others are tried in vain', async () => {
  const embed = () => models.post('/v1/embeddings', { model: 'embed.gguf', input: 'some text' });
  expect(await embed()).toMatchObject({ status: 200 });
  let refused = 0;
  const question = [{ role: 'user', content: 'Hello' }];
  const vain = Array.from({ length: 60 }, async (_, n) => {
    const { status, body } = await models.post('/v1/chat/completions', {
      model: `vast-${String(n)}.gguf`,
      messages: question,
    });
    refused += 1;
    return { status, body };
  });
  await Promise.race(vain);
  const before = refused;
  expect(await embed()).toMatchObject({ status: 200 });
  expect(refused - before).toBeLessThan(30);
  for (const answer of await Promise.all(vain))
    expect(answer).toMatchObject({ status: 500, body: { error: { code: 'too_large_for_memory' } } });
});

test('a model that the settings name is not unloaded for one that only callers name', async () => {
  await models.write('named.gguf', { kind: 'embedding', unusedTokens: 20_000 });
  await models.write('chat.gguf', { kind: 'chat' });
  const settings = { QUIRE_EMBEDDER: 'local', QUIRE_EMBEDDING_MODEL: 'named.gguf' };
  const chat = () =>
    models.post('/v1/chat/completions', {
      model: 'chat.gguf',
      messages: [{ role: 'user', content: 'Hello' }],
      max_tokens: 1,
    });
  await models.restart('SIGTERM', { ...settings, QUIRE_MODELS_CONVERSATIONS: '12' });
  expect(await models.post('/v1/embeddings', { model: 'named.gguf', input: 'text' })).toMatchObject({
    status: 200,
  });
  const refused = await chat();
  expect(refused).toMatchObject({ status: 500, body: { error: { code: 'too_large_for_memory' } } });
  expect(refused.text).toContain('of which models of the settings take');
  // It fits alone, and takes its turn where no setting names the other.
  await models.restart('SIGTERM', { QUIRE_MODELS_CONVERSATIONS: '12' });
  await models.post('/v1/embeddings', { model: 'named.gguf', input: 'text' });
  expect(await chat()).toMatchObject({ status: 200 });
});
