import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startModels, type Answer, type ModelsProcess } from '../support/models-process.js';

/** Longer than a conversation is left alone while another waits. */
const LONG_SECONDS = new Map([
  [1, 8],
  [2, 3],
]);

async function start(conversations: number): Promise<ModelsProcess> {
  const models = await startModels({ QUIRE_MODELS_CONVERSATIONS: String(conversations) });
  // Slow by its weights, so that a token takes no longer the more there are before it: some hundred are long answers.
  await models.write('chat.gguf', { kind: 'chat', dimension: 768, layers: 10 });
  return models;
}

function ask(
  models: ModelsProcess,
  user: string,
  { max_tokens, ...more }: { max_tokens: number; n?: number },
) {
  const messages = [{ role: 'user', content: `A question of ${user}, number ${String(more.n ?? 0)}.` }];
  return models.post('/v1/chat/completions', { model: 'chat.gguf', messages, user, max_tokens });
}

const textOf = ({ body }: Answer): unknown =>
  (body['choices'] as { message: { content: string } }[])[0]?.message;
const usageOf = ({ body }: Answer): unknown => body['usage'];

async function seconds<Result>(task: Promise<Result>): Promise<[Result, number]> {
  const start = performance.now();
  const result = await task;
  return [result, (performance.now() - start) / 1_000];
}

/** The number of tokens that the model writes in this many seconds on this machine. */
async function tokensFor(models: ModelsProcess, wanted: number): Promise<number> {
  await ask(models, 'first', { max_tokens: 5 });
  const [, took] = await seconds(ask(models, 'first', { max_tokens: 50 }));
  return Math.min(3_900, Math.ceil((50 * wanted) / took));
}

describe.each([1, 2])('with %s conversations', (conversations) => {
  let models: ModelsProcess;
  beforeAll(async () => {
    models = await start(conversations);
  }, 60_000);
  afterAll(() => models.stop());

  test('long answers of a caller give way to a short one of another, and go on as if nothing had been', async () => {
    const max_tokens = await tokensFor(models, LONG_SECONDS.get(conversations) ?? 0);
    const [alone, took] = await seconds(ask(models, 'greedy', { max_tokens }));
    expect(alone.status).toBe(200);
    let ended = 0;
    const greedy = Array.from({ length: conversations }, (_, n) =>
      ask(models, 'greedy', { max_tokens, n }).finally(() => (ended += 1)),
    );
    await sleep(200);
    const [short, waited] = await seconds(ask(models, 'modest', { max_tokens: 5 }));
    expect(short.status).toBe(200);
    console.info('seconds', { conversations, took, waited });
    expect(ended).toBe(0);
    const [first] = await Promise.all(greedy);
    expect(first && textOf(first)).toEqual(textOf(alone));
    expect(first && usageOf(first)).toMatchObject({ completion_tokens: max_tokens });
    const metrics = await fetch(`${models.url}/metrics`).then((response) => response.text());
    expect(Number(/^quire_models_gave_way_total (\d+)/m.exec(metrics)?.[1])).toBeGreaterThan(0);
    expect(await readdir(join(models.dataDirectory, 'states'))).toEqual([]);
  }, 300_000);
});
