import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startModels, type ModelsProcess } from '../support/models-process.js';

/** Families of models whose expressions for words call themselves for each character. */
const families = ['gpt-4o', 'tekken', 'deepseek-llm'];

let models: ModelsProcess;
beforeAll(async () => {
  models = await startModels();
  for (const words of families) await models.write(`${words}.gguf`, { kind: 'chat', words });
});
afterAll(() => models.stop());

const RUNS = ['a', ' ', '!', '\n', '\u0001!', '字', '😀'].map((unit) => unit.repeat(40_000 / unit.length));

test.each(families)(
  'one letter without end does not end the process, with words as of %s',
  async (family) => {
    const model = `${family}.gguf`;
    for (const content of RUNS) {
      const messages = [{ role: 'user', content }];
      const answer = await models.post('/v1/chat/completions', { model, messages });
      expect(answer.status).toBe(400);
      const { code, message } = answer.body['error'] as { code: string; message: string };
      // Its tokens here must show that it is too long, not its characters.
      expect({ code, message }).toEqual({
        code: 'context_length_exceeded',
        message: expect.stringMatching(/^the prompt takes \d+ tokens/),
      });
    }
    const embedded = await models.post('/v1/embeddings', { model, input: 'a'.repeat(40_000) });
    expect(embedded.status).toBe(200);
  },
);

test('a prompt that cannot fit is refused by its characters, before tokens are made of it', async () => {
  const messages = [{ role: 'user', content: 'word '.repeat(100_000) }];
  const body = { model: 'gpt-4o.gguf', messages };
  for (const [path, method] of [
    ['/v1/chat/completions', 'POST'],
    ['/v1/states/long', 'PUT'],
  ] as const) {
    const answer = await models.post(path, body, { method });
    expect(answer.status).toBe(400);
    expect(answer.body['error']).toMatchObject({
      code: 'context_length_exceeded',
      tokens: 31_250,
      message: 'the prompt takes at least 31250 tokens, the model reads 4094',
    });
  }
});
