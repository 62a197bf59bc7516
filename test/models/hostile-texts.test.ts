import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startModels, type ModelsProcess } from '../support/models-process.js';

/** Families of models whose expressions for words call themselves for each character. */
const families = ['gpt-4o', 'tekken', 'deepseek-llm'];

let models: ModelsProcess;
beforeAll(async () => {
  models = await startModels({ QUIRE_MODELS_CONTEXT_TOKENS: '512' });
  for (const words of families) await models.write(`${words}.gguf`, { kind: 'chat', words });
});
afterAll(() => models.stop());

const RUNS = ['a', ' ', '!', '\n', '\u0001!', '字', '😀'].map((unit) => unit.repeat(40_000));

test.each(families)(
  'one letter without end does not end the process, with words as of %s',
  async (family) => {
    const model = `${family}.gguf`;
    for (const content of RUNS) {
      const messages = [{ role: 'user', content }];
      const answer = await models.post('/v1/chat/completions', { model, messages });
      expect(answer.status).toBe(400);
      expect(answer.body['error']).toMatchObject({ code: 'context_length_exceeded' });
    }
    const embedded = await models.post('/v1/embeddings', { model, input: 'a'.repeat(40_000) });
    expect(embedded.status).toBe(200);
  },
);
