import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startBalancer, type Balancer } from '../support/balancer.js';
import { createClient, TEST_SECRET, type Client } from '../support/client.js';
import { endOf } from '../support/processes.js';
import { freePort, startTestRedis, type TestRedis } from '../support/redis.js';
import { inheritedEnvironment, startProcess, type StartedProcess } from '../support/service.js';
import { until } from '../support/until.js';

const ROUNDS = 2;

const KINDS = ['asks', 'tries', 'asks and trusts'] as const;

interface Outcome {
  readonly asked: number;
  readonly failures: readonly string[];
  readonly slowest: number;
}

let redis: TestRedis;
let directory: string;
let ports: number[];
let apis: StartedProcess[];
let worker: StartedProcess;
let balancers: Balancer[];
/** In the order of `KINDS`. */
let outcomes: Outcome[];
let env: Record<string, string | undefined>;

/** Both APIs are restarted in turn, while callers come through a balancer of either kind. */
beforeAll(async () => {
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
  balancers = await Promise.all(KINDS.map((kind) => startBalancer({ ports, kind })));
  await until(() => balancers.every((balancer) => ports.every((port) => balancer.isUp(port))));
  const clients = balancers.map((balancer) => createClient(balancer.url, 'ann'));
  for (const client of clients)
    expect((await client.ingestText('A quire is a gathering of folded leaves.')).status).toBe(200);
  const loads = clients.map(startLoad);
  await sleep(500);
  for (let round = 0; round < ROUNDS; round += 1) for (const place of ports.keys()) await restart(place);
  outcomes = await Promise.all(loads.map((load) => load.stop()));
});

afterAll(async () => {
  await Promise.all(balancers.map((balancer) => balancer.stop()));
  await Promise.all([...apis, worker].map((each) => each.kill('SIGTERM')));
  await redis.stop();
  await rm(directory, { recursive: true, force: true });
});

/**
 * The time that a caller waits between two requests: while an API stops, less than while the next one takes its time to
 * start.
 */
const PAUSE_MILLISECONDS = { stopping: 50, starting: 200 };
let pauseMilliseconds = PAUSE_MILLISECONDS.stopping;

/** Ends the API at a port and starts another one there; it has its share again before this is over. */
async function restart(place: number): Promise<void> {
  const [old, port] = [apis[place], ports[place]];
  if (!old || port === undefined) throw new Error('no API');
  pauseMilliseconds = PAUSE_MILLISECONDS.stopping;
  await old.kill('SIGTERM');
  expect((await endOf(old))[0]).toBe(0);
  const answers = () => balancers.map((balancer) => balancer.answers.get(port) ?? 0);
  const before = answers();
  pauseMilliseconds = PAUSE_MILLISECONDS.starting;
  apis[place] = startApi(port);
  await untilServing(port);
  await until(() => answers().every((count, i) => count > (before[i] ?? 0) + 5));
}

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
      await sleep(pauseMilliseconds);
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

test.each(KINDS.map((kind, place) => [kind, place] as const))(
  'two APIs that are restarted one by one under load fail no request behind a balancer that %s',
  (_kind, place) => {
    const { asked, failures, slowest } = outcomes[place] ?? { asked: 0, failures: ['none'], slowest: 0 };
    expect(failures).toEqual([]);
    expect(asked).toBeGreaterThan(100);
    // One that hangs is ended by the API, after half a minute.
    expect(slowest).toBeLessThan(15_000);
  },
);
