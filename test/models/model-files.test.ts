import { copyFile, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startModels, type ModelsProcess } from '../support/models-process.js';

let models: ModelsProcess;
beforeAll(async () => {
  models = await startModels();
  await models.write('embed.gguf', { kind: 'embedding' });
  await models.write('rank.gguf', { kind: 'ranking' });
});
afterAll(() => models.stop());

const question = { role: 'user', content: 'Tell me more.' };

async function embed(input: string, model = 'embed.gguf'): Promise<number[][]> {
  const { status, body } = await models.post('/v1/embeddings', { model, input });
  expect(status).toBe(200);
  return (body as { data: readonly { embedding: number[] }[] }).data.map(({ embedding }) => embedding);
}

const dot = (one: number[], other: number[]) =>
  one.reduce((sum, value, i) => sum + value * (other[i] ?? 0), 0);

describe('model files', () => {
  test.each(['../embed.gguf', '/etc/passwd', 'models/embed.gguf', '.hidden.gguf', 'embed', 'a..b.gguf', ''])(
    'the name %j is no name of a model file',
    async (model) => {
      const { status, body } = await models.post('/v1/embeddings', { model, input: 'x' });
      expect(status).toBe(404);
      expect(body['error']).toMatchObject({ code: 'model_not_found', param: 'model' });
    },
  );

  test('a link out of the folder is no model file', async () => {
    const outside = join(models.dataDirectory, 'outside.gguf');
    await copyFile(join(models.directory, 'embed.gguf'), outside);
    await symlink(outside, join(models.directory, 'link.gguf'));
    const { status } = await models.post('/v1/embeddings', { model: 'link.gguf', input: 'x' });
    expect(status).toBe(404);
  });

  test('files that are none, cut off or garbled fail alone, with a reason, and are not blamed on the text', async () => {
    await writeFile(join(models.directory, 'text.gguf'), 'This is no model.');
    await copyFile(join(models.directory, 'embed.gguf'), join(models.directory, 'cut.gguf'));
    await truncate(join(models.directory, 'cut.gguf'), 300_000);
    await writeFile(
      join(models.directory, 'header.gguf'),
      Buffer.concat([Buffer.from('GGUF'), Buffer.alloc(64, 255)]),
    );
    await writeFile(join(models.directory, 'empty.gguf'), '');
    for (const model of ['text.gguf', 'cut.gguf', 'header.gguf', 'empty.gguf']) {
      const { status, body } = await models.post('/v1/embeddings', { model, input: 'x' });
      expect({ model, status }).toEqual({ model, status: 500 });
      expect(body['error']).toMatchObject({ code: 'invalid_model', param: 'model' });
    }
    expect(await embed('still here')).toHaveLength(1);
  });

  test('a model is not used for what it was not made for', async () => {
    const wrong = await models.post('/v1/chat/completions', { model: 'embed.gguf', messages: [question] });
    expect(wrong.body['error']).toMatchObject({ code: 'wrong_kind' });
    const ranking = await models.post('/v1/embeddings', { model: 'rank.gguf', input: 'x' });
    expect(ranking.body['error']).toMatchObject({ code: 'wrong_kind' });
  });

  test('a file that is replaced is noticed: who asks for the old one does not get the new one', async () => {
    await models.write('changing.gguf', { kind: 'embedding', seed: 7 });
    const described = await fetch(`${models.url}/v1/models/changing.gguf`);
    const { fingerprint } = (await described.json()) as { fingerprint: string };
    const asked = `changing.gguf@${fingerprint}`;
    const [before = []] = await embed('a text', asked);
    await models.write('changing.gguf', { kind: 'embedding', seed: 8 });
    const { status, body } = await models.post('/v1/embeddings', { model: asked, input: 'a text' });
    expect(status).toBe(409);
    expect(body['error']).toMatchObject({ code: 'model_changed' });
    const [after = []] = await embed('a text', 'changing.gguf');
    expect(dot(before, after)).toBeLessThan(0.9);
  });
});
