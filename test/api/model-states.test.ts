import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { startFakeOpenAI, type FakeOpenAI } from '../support/fake-openai.js';
import { freePort, startTestRedis, type TestRedis } from '../support/redis.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

interface Model {
  readonly kind: string;
  readonly model: string | null;
  readonly address: string | null;
  readonly dimensions: number | null;
  readonly state: string;
  readonly problem: string | null;
}
interface Ready {
  readonly status: string;
  readonly models: Record<'embedder' | 'completer' | 'reranker', Model>;
}

let provider: FakeOpenAI;
let redis: TestRedis;
let dataDirectory: string;
let service: Service | null = null;

beforeAll(async () => {
  [provider, redis] = await Promise.all([startFakeOpenAI(), startTestRedis()]);
  // With a folder of its own, each service would wait until the storage of the one before is forgotten.
  dataDirectory = await mkdtemp(join(tmpdir(), 'quire-data-'));
});
afterEach(async () => {
  await service?.stop();
  service = null;
  provider.reset();
});
afterAll(() =>
  Promise.all([provider.stop(), redis.stop(), rm(dataDirectory, { recursive: true, force: true })]),
);

const start = async (env: Record<string, string>) => {
  service = await startService({ redis, dataDirectory, env: { QUIRE_API_PROBE_MODELS: 'true', ...env } });
  return service;
};
const readiness = async (): Promise<{ status: number; text: string; body: Ready }> => {
  const response = await fetch(`${service?.url ?? ''}/health/ready`);
  const text = await response.text();
  return { status: response.status, text, body: JSON.parse(text) as Ready };
};
const statesSettled = async () =>
  Object.values((await readiness()).body.models).every(({ state }) => state !== 'probing');

interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly role?: string;
  readonly problem?: string;
  readonly dimensions?: number;
  readonly address?: string | null;
}
const logged = (msg: string): LogLine[] =>
  (service?.api.output() ?? '')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogLine)
    .filter((line) => line.msg === msg);

describe('the models in use', () => {
  test('are named by the start log and at /health/ready, with address and dimensions but no secret', async () => {
    const { host } = new URL(provider.url);
    await start({
      QUIRE_EMBEDDER: 'openai',
      QUIRE_EMBEDDING_BASE_URL: `http://${host}/v1/?key=hush-hush#hush-hush`,
      QUIRE_EMBEDDING_MODEL: 'some-embedder',
      QUIRE_COMPLETER: 'openai',
      QUIRE_COMPLETION_BASE_URL: provider.url,
      QUIRE_COMPLETION_MODEL: 'some-chat',
      OPENAI_API_KEY: 'sk-hush-hush',
    });
    await until(statesSettled);
    const { text, body } = await readiness();
    expect(body.models.embedder).toMatchObject({
      kind: 'openai',
      model: 'some-embedder',
      address: `http://${host}/v1`,
    });
    expect(body.models.completer).toEqual({
      kind: 'openai',
      model: 'some-chat',
      address: provider.url,
      dimensions: null,
      state: 'answers',
      problem: null,
    });
    expect(body.models.reranker).toMatchObject({ kind: 'none', model: null, state: 'unasked' });
    expect(text).not.toContain('hush');
    expect(logged('model in use').map(({ role }) => role)).toEqual(['embedder', 'completer', 'reranker']);
    expect(service?.api.output()).not.toContain('hush');
  }, 60_000);

  test('tell the length of their vectors', async () => {
    await start({ QUIRE_EMBEDDER: 'openai', QUIRE_EMBEDDING_BASE_URL: provider.url });
    await until(statesSettled);
    const { dimensions, state } = (await readiness()).body.models.embedder;
    expect([state, typeof dimensions]).toEqual(['answers', 'number']);
    expect(logged('model answers')[0]).toMatchObject({ role: 'embedder', dimensions });
  }, 60_000);

  test('that lack /v1 are failing, with the setting to change, while the service is ready', async () => {
    const url = provider.url.replace(/\/v1$/, '');
    await start({
      QUIRE_EMBEDDER: 'openai',
      QUIRE_EMBEDDING_BASE_URL: url,
      QUIRE_COMPLETER: 'openai',
      QUIRE_COMPLETION_BASE_URL: url,
    });
    await until(statesSettled);
    const { status, body } = await readiness();
    expect([status, body.status]).toEqual([200, 'ready']);
    expect(body.models.embedder).toMatchObject({
      state: 'failing',
      problem: `it answered 404: embedding.base_url probably lacks /v1 (${url}/v1)`,
    });
    expect(body.models.completer).toMatchObject({
      state: 'failing',
      problem: `it answered 404: completion.base_url probably lacks /v1 (${url}/v1)`,
    });
    const warned = logged('model fails');
    expect(warned.map(({ level, role }) => [level, role])).toEqual(
      expect.arrayContaining([
        ['warn', 'embedder'],
        ['warn', 'completer'],
      ]),
    );
  }, 60_000);

  test('that never answer do not hold up the start', async () => {
    const silent = createServer(() => undefined);
    const port = await freePort();
    await new Promise<void>((resolve) => silent.listen(port, '127.0.0.1', resolve));
    try {
      const address = `http://127.0.0.1:${String(port)}`;
      await start({
        QUIRE_RERANKER: 'http',
        QUIRE_RERANKING_BASE_URL: address,
        QUIRE_RERANKING_MODEL: 'slow',
      });
      await sleep(200);
      const { status, body } = await readiness();
      expect([status, body.models.reranker]).toEqual([
        200,
        { kind: 'http', model: 'slow', address, dimensions: null, state: 'probing', problem: null },
      ]);
    } finally {
      silent.closeAllConnections();
      silent.close();
    }
  }, 60_000);
});
