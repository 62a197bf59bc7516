import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createRedis } from '../../src/shared/redis/client.js';
import { TEST_SECRET } from '../support/client.js';
import { endOf } from '../support/processes.js';
import { freePort, startTestRedis, type TestRedis } from '../support/redis.js';
import { inheritedEnvironment, startProcess, type StartedProcess } from '../support/service.js';
import { until } from '../support/until.js';

const KEYS = 20_000;
/** The time in which a waiting process that says so each time has tried, and said it, again. */
const SOME_TRIES_MILLISECONDS = 1_500;

let redis: TestRedis;
let directory: string;
let port: number;
const started: StartedProcess[] = [];

/** A Redis that has data to load, and is away. */
beforeAll(async () => {
  redis = await startTestRedis({
    // A minute and more of LOADING, with answers in between, unless it is told to hurry.
    arguments: ['--key-load-delay', '5000', '--loading-process-events-interval-bytes', '1024'],
  });
  directory = await mkdtemp(join(tmpdir(), 'quire-loading-'));
  port = await freePort();
  const client = await connect();
  const names = Array.from({ length: KEYS }, (_, i) => `other:${String(i)}`);
  await client.mSet(Object.fromEntries(names.map((name) => [name, 'x'.repeat(100)])));
  // As a snapshot: of a log of commands it would load a thousand before it answers again.
  await client.bgRewriteAof();
  await until(async () => (await client.info('persistence')).includes('aof_rewrite_in_progress:0'));
  client.destroy();
  await redis.crash();
});

afterAll(async () => {
  await Promise.all(started.map((each) => each.kill('SIGTERM')));
  await redis.stop();
  await rm(directory, { recursive: true, force: true });
});

async function connect() {
  const client = createRedis(redis.url, { failFast: false, onError: () => undefined });
  await client.connect();
  return client;
}

function start(file: 'api/main.js' | 'workers/main.js'): StartedProcess {
  const env = {
    ...inheritedEnvironment(),
    REDIS_URL: redis.url,
    PORT: String(port),
    HOST: '127.0.0.1',
    QUIRE_DATA_DIR: directory,
    QUIRE_DEV_MODE: 'true',
    JWT_SECRET_KEY: TEST_SECRET,
  };
  const process = startProcess(file, [], { env, execArgv: [] });
  started.push(process);
  return process;
}

/** Expects that a process has said that it waits only at once, and twice a minute. */
function expectSaidOnce(output: string, since: number): void {
  const most = 1 + Math.floor((performance.now() - since) / 30_000);
  const said = output.split('waiting for redis').length - 1;
  expect(said).toBeGreaterThan(0);
  expect(said).toBeLessThanOrEqual(most);
}

async function hurry(): Promise<void> {
  const client = await connect();
  await client.configSet('key-load-delay', '0');
  client.destroy();
}

test('a worker that starts while there is no Redis waits, and ends cleanly when it is asked to', async () => {
  const since = performance.now();
  const worker = start('workers/main.js');
  await until(() => worker.output().includes('waiting for redis'));
  await sleep(SOME_TRIES_MILLISECONDS);
  worker.child.kill('SIGTERM');
  const [code, output] = await endOf(worker);
  expect(code).toBe(0);
  expectSaidOnce(output, since);
});

describe('while Redis loads its data', () => {
  let since: number;
  let api: StartedProcess;
  let worker: StartedProcess;
  let unwanted: StartedProcess;

  beforeAll(async () => {
    await redis.start('answering');
    since = performance.now();
    api = start('api/main.js');
    worker = start('workers/main.js');
    unwanted = start('workers/main.js');
    await until(() => [api, worker, unwanted].every((each) => each.output().includes('waiting for redis')));
    await sleep(SOME_TRIES_MILLISECONDS);
  });

  test('a worker that is asked to end ends cleanly', async () => {
    unwanted.child.kill('SIGTERM');
    expect((await endOf(unwanted))[0]).toBe(0);
  });

  test('a worker that starts waits, says so once, and then serves', async () => {
    expect(worker.output()).toContain('LOADING');
    expect(worker.output()).not.toContain('worker started');
    expect(worker.child.exitCode).toBeNull();
    await hurry();
    await until(() => worker.output().includes('worker started'));
    expectSaidOnce(worker.output(), since);
    await until(async () => {
      const answer = await fetch(`http://127.0.0.1:${String(port)}/health/ready`).catch(() => null);
      return answer?.status === 200;
    });
  });

  test('an API that starts waits, and says so once', async () => {
    await until(() => api.output().includes('api serves'));
    expectSaidOnce(api.output(), since);
  });
});
