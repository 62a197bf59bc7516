import { readdir, readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { startModels, type ModelsProcess } from '../support/models-process.js';
import { until } from '../support/until.js';

let models: ModelsProcess;
beforeAll(async () => {
  models = await startModels();
  await models.write('chat.gguf', { kind: 'chat' });
  await models.write('twin.gguf', { kind: 'chat', seed: 2 });
});
afterAll(() => models.stop());
beforeEach(() => models.restart('SIGTERM'));

const system = { role: 'system', content: 'Answer from the documents.' };
const LONG = Array.from(
  { length: 24 },
  (_, n) => `Sentence ${String(n)} of the document says something else. `,
).join('');
const SHORT = 'One more document, which came later. ';
const QUESTION = '\nQuestion: what does it say?';

const beginning = (text: string) => [system, { role: 'user', content: text }];

async function save(id: string, text: string, more: object = {}) {
  const body = { model: 'chat.gguf', messages: beginning(text), ...more };
  const answer = await models.post(`/v1/states/${encodeURIComponent(id)}`, body, { method: 'PUT' });
  expect(answer.status).toBe(200);
  return answer.body as { tokens: number; tokens_reused: number; bytes: number };
}

interface Completion {
  readonly text: string | undefined;
  readonly prompt: number;
  readonly reused: number;
}

async function ask(text: string, more: object = {}): Promise<Completion> {
  const request = { model: 'chat.gguf', messages: beginning(text + QUESTION), max_tokens: 24, ...more };
  const { status, body } = await models.post('/v1/chat/completions', request);
  expect(status).toBe(200);
  const { prompt_tokens: prompt, prompt_tokens_details: details } = body['usage'] as {
    prompt_tokens: number;
    prompt_tokens_details: { cached_tokens: number };
  };
  const [choice] = body['choices'] as { message: { content: string } }[];
  return { text: choice?.message.content, prompt, reused: details.cached_tokens };
}

const statesFolder = () => join(models.dataDirectory, 'states');
const filesOf = async (ending: string) =>
  (await readdir(statesFolder())).filter((name) => name.endsWith(ending));

test('an answer is the same with and without a state, and a new process reads the question alone', async () => {
  const without = await ask(LONG);
  const saved = await save('first', LONG);
  expect(saved.bytes).toBeGreaterThan(10_000);
  await models.restart('SIGTERM');
  const from = await ask(LONG, { state: 'first' });
  expect(from.text).toBe(without.text);
  expect(from.prompt).toBe(without.prompt);
  // All but the question, and what is read again to begin at a whole step of 64 tokens.
  expect(from.reused).toBeGreaterThanOrEqual(saved.tokens - 64);
  expect((await ask(LONG)).text).toBe(without.text);
});

test('text that is added is all that is read for another state', async () => {
  const first = await save('of-one', LONG);
  await models.restart('SIGTERM');
  const both = await save('of-two', LONG + SHORT, { from: 'of-one' });
  expect(both.tokens).toBeGreaterThan(first.tokens);
  expect(both.tokens_reused).toBeGreaterThanOrEqual(first.tokens - 64);
  await models.restart('SIGTERM');
  const without = await ask(LONG + SHORT);
  await models.restart('SIGTERM');
  const from = await ask(LONG + SHORT, { state: 'of-two' });
  expect(from.text).toBe(without.text);
  expect(from.reused).toBeGreaterThanOrEqual(both.tokens - 64);
});

test('only the common beginning of a state is used for another text', async () => {
  await save('about-cats', LONG + 'The secret is cats. ');
  await models.restart('SIGTERM');
  const without = await ask(LONG + 'The secret is dogs. ');
  await models.restart('SIGTERM');
  const from = await ask(LONG + 'The secret is dogs. ', { state: 'about-cats' });
  expect(from.text).toBe(without.text);
  expect(from.reused).toBeGreaterThan(0);
});

test('two models of one shape are never confused', async () => {
  await save('of-chat', LONG);
  const without = await ask(LONG, { model: 'twin.gguf' });
  await models.restart('SIGTERM');
  const from = await ask(LONG, { model: 'twin.gguf', state: 'of-chat' });
  expect(from).toEqual({ ...without, reused: 0 });
});

test('a model file that was replaced makes its states worth nothing', async () => {
  await models.write('replaced.gguf', { kind: 'chat', seed: 5 });
  await save('of-old', LONG, { model: 'replaced.gguf' });
  await models.write('replaced.gguf', { kind: 'chat', seed: 6 });
  expect((await ask(LONG, { model: 'replaced.gguf', state: 'of-old' })).reused).toBe(0);
});

test('with another window, a state is read anew', async () => {
  await save('of-window', LONG);
  await models.restart('SIGTERM', { QUIRE_MODELS_CONTEXT_TOKENS: '2048' });
  expect((await ask(LONG, { state: 'of-window' })).reused).toBe(0);
});

test('a state that is cut off or garbled is not loaded, and the answer is right all the same', async () => {
  const without = await ask(LONG);
  for (const damage of [
    (path: string) => truncate(path, 5_000),
    async (path: string) => writeFile(path, Buffer.alloc((await readFile(path)).length, 7)),
  ]) {
    await save('damaged', LONG);
    for (const name of await filesOf('.state')) await damage(join(statesFolder(), name));
    await models.restart('SIGTERM');
    const { text } = await ask(LONG, { state: 'damaged' });
    expect(text).toBe(without.text);
  }
});

test('kill -9 while a state is made leaves no half of one, and it is made again', async () => {
  await models.restart('SIGTERM');
  await Promise.all((await filesOf('')).map((name) => writeFile(join(statesFolder(), name), '')));
  const making = models
    .post('/v1/states/killed', { model: 'chat.gguf', messages: beginning(LONG) }, { method: 'PUT' })
    .catch(() => null);
  await sleep(60);
  await models.restart('SIGKILL');
  await making;
  expect(await filesOf('.draft')).toEqual([]);
  const saved = await save('killed', LONG);
  await models.restart('SIGKILL');
  expect((await ask(LONG, { state: 'killed' })).reused).toBeGreaterThanOrEqual(saved.tokens - 64);
});

test('questions at once from one state disturb neither each other nor the state', async () => {
  const saved = await save('shared', LONG);
  const without = await ask(LONG);
  await models.restart('SIGTERM');
  const answers = await Promise.all(Array.from({ length: 5 }, () => ask(LONG, { state: 'shared' })));
  for (const answer of answers) {
    expect(answer.text).toBe(without.text);
    expect(answer.reused).toBeGreaterThanOrEqual(saved.tokens - 64);
  }
});

test('a state is deleted with its file, and the least recently used ones make room', async () => {
  for (const name of await filesOf('')) await writeFile(join(statesFolder(), name), '');
  await models.restart('SIGTERM', { QUIRE_CACHES_STATE_MEGABYTES: '1' });
  const { bytes } = await save('one', LONG);
  const fitting = Math.floor(1024 ** 2 / bytes);
  for (let n = 0; n < fitting + 2; n += 1) await save(`more-${String(n)}`, LONG + String(n));
  expect((await filesOf('.state')).length).toBeLessThanOrEqual(fitting);
  const metrics = await (await fetch(`${models.url}/metrics`)).text();
  expect(metrics).toMatch(
    new RegExp(`^quire_models_states ${String((await filesOf('.state')).length)}$`, 'm'),
  );
  expect(Number(/^quire_models_state_bytes (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(bytes);
  await models.post(`/v1/states/more-${String(fitting + 1)}`, {}, { method: 'DELETE' });
  expect((await filesOf('.state')).length).toBeLessThanOrEqual(fitting - 1);
});

test('a state that nobody has used for the days of the settings is removed', async () => {
  for (const name of await filesOf('')) await rm(join(statesFolder(), name));
  await save('old', LONG);
  await save('new', `${SHORT}${LONG}`);
  const monthAgo = new Date(Date.now() - 31 * 86_400_000);
  for (const name of await filesOf('.json')) {
    const path = join(statesFolder(), name);
    if ((await readFile(path, 'utf8')).includes('"id":"old"')) await utimes(path, monthAgo, monthAgo);
  }
  await models.restart('SIGTERM', { QUIRE_CACHES_IDLE_DAYS: '0' });
  expect(await filesOf('.state')).toHaveLength(2);
  await models.restart('SIGTERM');
  await until(async () => (await filesOf('.state')).length === 1);
  expect((await ask(`${SHORT}${LONG}`, { state: 'new' })).reused).toBeGreaterThan(0);
});

test('a text beyond the window is refused before it is read', async () => {
  const body = { model: 'chat.gguf', messages: beginning(LONG.repeat(5)) };
  const { status, body: answer } = await models.post('/v1/states/long', body, { method: 'PUT' });
  expect(status).toBe(400);
  expect(answer['error']).toMatchObject({ code: 'context_length_exceeded', tokens: expect.any(Number) });
});

test('a state that is used from memory counts as used, and stays while older ones go', async () => {
  for (const name of await filesOf('')) await writeFile(join(statesFolder(), name), '');
  await models.restart('SIGTERM', { QUIRE_CACHES_STATE_MEGABYTES: '1' });
  const { bytes } = await save('busy', LONG);
  const fitting = Math.floor(1024 ** 2 / bytes);
  for (let n = 0; n < fitting; n += 1) {
    await ask(LONG, { state: 'busy' });
    await save(`idle-${String(n)}`, LONG + String(n));
  }
  const { data } = (await (await fetch(`${models.url}/v1/states`)).json()) as { data: { id: string }[] };
  expect(data.map(({ id }) => id)).toContain('busy');
  expect(data.length).toBeLessThanOrEqual(fitting);
});
