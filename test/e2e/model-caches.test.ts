import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient } from '../support/client.js';
import { ingestText, type CacheAnswer, type CacheConfiguration } from '../support/cache-client.js';
import { streamQuery } from '../support/event-stream.js';
import { startModels, type ModelsProcess } from '../support/models-process.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

let models: ModelsProcess;
let service: Service;
beforeAll(async () => {
  models = await startModels();
  await models.write('chat.gguf', { kind: 'chat' });
  await models.write('embed.gguf', { kind: 'embedding' });
  service = await startService({ env: { ...models.env, QUIRE_DEV_MODE: 'false' } });
});
afterAll(async () => {
  await service.stop();
  await models.stop();
});

interface ModelCache extends CacheConfiguration {
  readonly engine: string;
  readonly state_bytes: number;
}
type ModelAnswer = CacheAnswer & { readonly tokens_reused: number };

const user = (name: string) => createClient(service.url, name);
type Client = ReturnType<typeof user>;

const create = (client: Client, name: string, more: object) =>
  client.post<ModelCache>('/cache/create', { name, model: 'label', gguf_file: 'chat.gguf', ...more });

async function ask(client: Client, name: string, query = 'What is it about?'): Promise<ModelAnswer> {
  const { status, body } = await client.post<ModelAnswer>(`/cache/${name}/query`, { query, max_tokens: 12 });
  expect({ status, body }).toMatchObject({ status: 200 });
  return body;
}

const find = async (client: Client, name: string) => (await client.get<ModelCache>(`/cache/${name}`)).body;

/** Tokens that models have read so far. */
async function tokensRead(): Promise<number> {
  const metrics = await (await fetch(`${models.url}/metrics`)).text();
  return Number(/quire_models_tokens_total\{kind="chat",what="read"\} (\d+)/.exec(metrics)?.[1] ?? 0);
}

async function statesKept(): Promise<string[]> {
  const { data } = (await (await fetch(`${models.url}/v1/states`)).json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
}

const text = (topic: string) => `Everything about ${topic}. `.repeat(12);

describe('a cache that a local model has read', () => {
  test('is made by the file that it names, answers from its state, and reads only what is added', async () => {
    const ann = user('ann');
    const first = await ingestText(ann, text('harbours'));
    const second = await ingestText(ann, text('lighthouses'));
    const made = await create(ann, 'port', { docs: [first] });
    expect(made.body).toMatchObject({ status: 'ready', engine: 'llama', doc_count: 1 });
    expect(made.body.state_bytes).toBeGreaterThan(0);

    const answer = await ask(ann, 'port');
    expect(answer.tokens_reused).toBeGreaterThanOrEqual(made.body.token_count - 64);
    expect(answer.usage.prompt_tokens).toBeGreaterThan(made.body.token_count);
    expect(answer.finish_reason).toBe('length');
    expect(answer.usage.completion_tokens).toBe(12);
    // A model of random weights says nothing that a document supports.
    expect(answer).toMatchObject({ sources: expect.any(Array), unsupported: expect.any(Array) });

    const before = await tokensRead();
    expect((await ann.post('/cache/port/add_docs', { docs: [second] })).status).toBe(200);
    const both = await find(ann, 'port');
    expect(both).toMatchObject({ doc_count: 2, status: 'ready' });
    expect((await tokensRead()) - before).toBeLessThanOrEqual(both.token_count - made.body.token_count + 64);
    const ids = await statesKept();
    expect(ids.filter((id) => id.includes('"port"'))).toHaveLength(1);
  });

  test('answers the same from the state of an earlier process', async () => {
    const ben = user('ben');
    const made = await create(ben, 'kept', { docs: [await ingestText(ben, text('kept things'))] });
    const before = await ask(ben, 'kept');
    await models.restart('SIGKILL');
    const after = await ask(ben, 'kept');
    expect(after.completion).toBe(before.completion);
    expect(after.tokens_reused).toBeGreaterThanOrEqual(made.body.token_count - 64);
  });

  test('a document that is deleted or changed is never answered from again', async () => {
    const cleo = user('cleo');
    const secret = await ingestText(cleo, text('secrets'));
    const changing = await ingestText(cleo, text('changes'));
    const staying = await ingestText(cleo, text('what stays'));
    const whole = (await create(cleo, 'all', { docs: [staying, secret, changing] })).body;
    await cleo.delete(`/documents/${secret}`);
    const without = await ask(cleo, 'all');
    expect(without.usage.prompt_tokens).toBeLessThan(whole.token_count);
    expect(await find(cleo, 'all')).toMatchObject({ doc_count: 2 });
    await cleo.put(`/documents/${changing}/content`, { content: text('something new') });
    const less = await ask(cleo, 'all');
    expect(less.usage.prompt_tokens).toBeLessThan(without.usage.prompt_tokens);
    expect(await find(cleo, 'all')).toMatchObject({ doc_count: 1 });
    await cleo.post('/cache/all/update', {});
    expect(await find(cleo, 'all')).toMatchObject({ doc_count: 2, status: 'ready' });
    // It answers like a cache that never held the others.
    const alone = await ingestText(cleo, text('something new'));
    await cleo.delete(`/documents/${alone}`);
    expect((await ask(cleo, 'all')).usage.prompt_tokens).toBeGreaterThan(less.usage.prompt_tokens);
  });

  test("a text that its owner closes to the cache's owner goes from the disk without any question", async () => {
    const [owner, reader] = [user('dora'), user('emil')];
    const own = await ingestText(reader, text('my own things'));
    const shared = await ingestText(owner, text('things of others'), {
      access_control: { readers: ['emil'] },
    });
    const made = (await create(reader, 'mixed', { docs: [own, shared] })).body;
    expect(made).toMatchObject({ doc_count: 2, engine: 'llama' });
    const [before] = (await statesKept()).filter((id) => id.includes('"emil"'));
    expect((await owner.patch(`/documents/${shared}`, { access_control: { readers: [] } })).status).toBe(200);
    await until(async () => {
      const { doc_count: documents, status } = await find(reader, 'mixed');
      return documents === 1 && status === 'ready';
    });
    const after = (await statesKept()).filter((id) => id.includes('"emil"'));
    expect(after).toHaveLength(1);
    expect(after).not.toEqual([before]);
    expect((await ask(reader, 'mixed')).usage.prompt_tokens).toBeLessThan(made.token_count);
  });

  test('answers in pieces, if asked to, with the same text and the same counts', async () => {
    const lea = user('lea');
    await create(lea, 'flow', { docs: [await ingestText(lea, text('flowing things'))] });
    const whole = await ask(lea, 'flow');
    const asked = { query: 'What is it about?', max_tokens: 12 };
    const { status, events } = await streamQuery(service.url, lea, asked, '/cache/flow/query');
    expect(status).toBe(200);
    expect(events.map(({ data }) => data.text ?? '').join('')).toBe(whole.completion);
    const end = events.at(-1)?.data;
    expect(end).toMatchObject({ type: 'end', finish_reason: 'length', usage: whole.usage });
    expect(end?.['tokens_reused']).toBeGreaterThan(0);
    const unknown = await lea.post('/cache/nothing/query', { query: 'What?', stream: true });
    expect(unknown.status).toBe(404);
  });

  test('questions at once are answered as one after the other', async () => {
    const finn = user('finn');
    await create(finn, 'busy', { docs: [await ingestText(finn, text('busy things'))] });
    const questions = ['What?', 'Where is that, and why?', 'Who says so?', 'When?'];
    const alone: string[] = [];
    for (const question of questions) alone.push((await ask(finn, 'busy', question)).completion);
    const together = await Promise.all(questions.map((question) => ask(finn, 'busy', question)));
    expect(together.map(({ completion }) => completion)).toEqual(alone);
  });

  test('too many texts for its window: 400 with both numbers', async () => {
    const gil = user('gil');
    const docs = [await ingestText(gil, text('long things').repeat(14))];
    const { status, body } = await create(gil, 'long', { docs });
    expect(status).toBe(400);
    expect(body.detail).toMatch(/take \d{4,} tokens, the model reads 4\d{3}/);
  });

  test('texts that would leave no room for a question: 400, and nothing is kept of them', async () => {
    const max = user('max');
    const some = 'x '.repeat(1_000);
    const made = await create(max, 'full', { docs: [await ingestText(max, some)] });
    // The tiny model has a token for each byte.
    const more = `${some}${'y '.repeat(Math.floor((3_950 - made.body.token_count) / 2))}`;
    const { status, body } = await create(max, 'fuller', { docs: [await ingestText(max, more)] });
    expect(status).toBe(400);
    expect(body.detail).toMatch(/take 39\d\d tokens, .* kept for a question and its answer$/);
    expect((await statesKept()).some((id) => id.includes('"fuller"'))).toBe(false);
  });

  test('goes from the disk with its cache', async () => {
    const hugo = user('hugo');
    await create(hugo, 'gone', { docs: [await ingestText(hugo, text('gone things'))] });
    expect((await statesKept()).some((id) => id.includes('"gone"'))).toBe(true);
    await hugo.delete('/cache/gone');
    expect((await statesKept()).some((id) => id.includes('"gone"'))).toBe(false);
  });

  test('kill -9 of the models process during a build: it is built in the end', async () => {
    const ida = user('ida');
    const docs = [await ingestText(ida, text('built things').repeat(5))];
    const building = ida.post('/cache/create', { name: 'late', model: 'm', gguf_file: 'chat.gguf', docs });
    await sleep(100);
    await models.restart('SIGKILL');
    expect([200, 202, 503]).toContain((await building).status);
    await until(async () => (await find(ida, 'late')).status === 'ready');
    expect((await ask(ida, 'late')).tokens_reused).toBeGreaterThan(0);
  });

  test('a model file that is replaced is noticed: the cache is read by the new one', async () => {
    const jan = user('jan');
    await models.write('swapped.gguf', { kind: 'chat', seed: 3 });
    const docs = [await ingestText(jan, text('swapped things'))];
    await jan.post('/cache/create', { name: 'swap', model: 'm', gguf_file: 'swapped.gguf', docs });
    const before = await ask(jan, 'swap');
    await models.write('swapped.gguf', { kind: 'chat', seed: 4 });
    await until(async () => {
      const { status, body } = await jan.post<ModelAnswer>('/cache/swap/query', {
        query: 'What is it about?',
        max_tokens: 12,
      });
      expect([200, 409, 503]).toContain(status);
      return status === 200 && body.completion !== before.completion;
    });
  });
});

test('a file that is not there, or is no chat model: the texts are sent as a prompt, and the answer says so', async () => {
  const kim = user('kim');
  const docs = [await ingestText(kim, text('prompts'))];
  for (const file of ['absent.gguf', 'embed.gguf', '../chat.gguf', 'some label']) {
    const { status, body } = await create(kim, 'prompt', { docs, gguf_file: file });
    expect({ status, body }).toMatchObject({ status: 200, body: { engine: 'prompt', state_bytes: 0 } });
  }
});
