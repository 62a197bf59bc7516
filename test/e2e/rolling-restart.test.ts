import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { startBalancer, type Balancer } from '../support/balancer.js';
import { createClient, TEST_SECRET, type Client } from '../support/client.js';
import { endOf } from '../support/processes.js';
import { freePort, startTestRedis, type TestRedis } from '../support/redis.js';
import { inheritedEnvironment, startProcess, type StartedProcess } from '../support/service.js';
import { until } from '../support/until.js';

const ROUNDS = 2;

let redis: TestRedis;
let directory: string;
let ports: number[];
let apis: StartedProcess[];
let worker: StartedProcess;
let balancer: Balancer;
let env: Record<string, string | undefined>;

beforeEach(async () => {
  redis = await startTestRedis();
  directory = await mkdtemp(join(tmpdir(), 'quire-rolling-'));
  ports = [await freePort(), await freePort()];
  env = {
    ...inheritedEnvironment(),
    REDIS_URL: redis.url,
    HOST: '127.0.0.1',
    QUIRE_DATA_DIR: directory,
    QUIRE_DEV_MODE: 'false',
    JWT_SECRET_KEY: TEST_SECRET,
    QUIRE_API_SHUTDOWN_DELAY_SECONDS: '1',
  };
  worker = startProcess('workers/main.js', [], { env, execArgv: [] });
  apis = ports.map(startApi);
  await Promise.all(ports.map(untilServing));
});

afterEach(async () => {
  await balancer.stop();
  await Promise.all([...apis, worker].map((each) => each.kill('SIGTERM')));
  await redis.stop();
  await rm(directory, { recursive: true, force: true });
});

function startApi(port: number): StartedProcess {
  return startProcess('api/main.js', [], { env: { ...env, PORT: String(port) }, execArgv: [] });
}

async function untilServing(port: number): Promise<void> {
  await until(async () => {
    const answer = await fetch(`http://127.0.0.1:${String(port)}/health/serving`).catch(() => null);
    return answer?.status === 200;
  });
}

/** Searches, lists and ingests without a second try of anything. */
function startLoad(client: Client) {
  const failures: string[] = [];
  const slowest = { milliseconds: 0 };
  let asked = 0;
  let isOver = false;
  const repeat = async (name: string, request: (n: number) => Promise<{ status: number; body: unknown }>) => {
    for (let n = 0; !isOver; n += 1) {
      const began = performance.now();
      asked += 1;
      const failure = await request(n).then(
        ({ status, body }) => (status < 300 ? null : `${String(status)} ${JSON.stringify(body)}`),
        (error: unknown) => String(error),
      );
      slowest.milliseconds = Math.max(slowest.milliseconds, performance.now() - began);
      if (failure !== null) failures.push(`${name}: ${failure}`);
      await sleep(50);
    }
  };
  const search = () => client.searchChunks('folded leaves');
  const ingest = (prefer: string) => (n: number) =>
    client.ingestText(`Leaf ${String(n)}, sent with ${prefer}.`, {}, { prefer });
  const running = [
    repeat('search', search),
    repeat('search', search),
    repeat('list', () => client.get('/documents')),
    repeat('ingest', ingest('respond-async')),
    repeat('ingest and wait', ingest('wait=2')),
  ];
  return {
    stop: async () => {
      isOver = true;
      await Promise.all(running);
      return { asked, failures, slowest: slowest.milliseconds };
    },
  };
}

test.each(['asks', 'tries'] as const)(
  'two APIs that are restarted one by one under load fail no request behind a balancer that %s',
  async (kind) => {
    balancer = await startBalancer({ ports, kind });
    await until(() => ports.every((port) => balancer.isUp(port)));
    const client = createClient(balancer.url, 'ann');
    expect((await client.ingestText('A quire is a gathering of folded leaves.')).status).toBe(200);
    const load = startLoad(client);
    await sleep(500);
    for (let round = 0; round < ROUNDS; round += 1)
      for (const [place, port] of ports.entries()) {
        const old = apis[place];
        if (!old) throw new Error('no API');
        await old.kill('SIGTERM');
        expect((await endOf(old))[0]).toBe(0);
        const before = balancer.answers.get(port) ?? 0;
        apis[place] = startApi(port);
        await untilServing(port);
        // It has its share again before the next one goes.
        await until(() => (balancer.answers.get(port) ?? 0) > before + 5);
      }
    const { asked, failures, slowest } = await load.stop();
    expect(failures).toEqual([]);
    expect(asked).toBeGreaterThan(100);
    // One that hangs is ended by the API, after half a minute.
    expect(slowest).toBeLessThan(15_000);
  },
);
