import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient } from 'redis';
import { openDataSet } from '../../../src/shared/data-set/data-set.js';
import { EXIT_WRONG_SETTINGS } from '../../../src/shared/exit-codes.js';
import { TEST_SECRET } from '../../support/client.js';
import { endOf } from '../../support/processes.js';
import { freePort, startTestRedis, type TestRedis } from '../../support/redis.js';
import { runQuire } from '../../support/run-quire.js';
import { inheritedEnvironment, startProcess, type StartedProcess } from '../../support/service.js';

const REFUSAL = /Redis Cluster \(redis_mode:cluster\), which Quire does not support: .*REDIS_URL/;

let nodes: TestRedis[];
let folder: string;
let started: StartedProcess[];

beforeAll(async () => {
  const clustered = { arguments: ['--cluster-enabled', 'yes'] };
  nodes = await Promise.all([startTestRedis(clustered), startTestRedis(clustered)]);
  folder = await mkdtemp(join(tmpdir(), 'quire-cluster-'));
  started = [];
});

afterEach(async () => {
  await Promise.all(started.map((each) => each.kill('SIGKILL')));
});

afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await rm(folder, { recursive: true, force: true });
});

const environment = async () => ({
  REDIS_URL: nodes[0]?.url ?? '',
  PORT: String(await freePort()),
  QUIRE_DATA_DIR: folder,
  QUIRE_DEV_MODE: 'true',
  JWT_SECRET_KEY: TEST_SECRET,
});

const commands = {
  api: ['api/main.js'],
  worker: ['workers/main.js', '--queues', 'ingestion'],
  reindex: ['reindex/main.js'],
} as const;

async function expectRefusal([file, ...args]: readonly [string, ...string[]]): Promise<void> {
  const env = { ...inheritedEnvironment(), ...(await environment()) };
  const child = startProcess(file, args, { env, execArgv: [] });
  started.push(child);
  const [code, output] = await endOf(child);
  expect(output).toMatch(REFUSAL);
  expect(output).not.toMatch(/MOVED|CLUSTERDOWN|CROSSSLOT|\n\s+at /);
  expect(code).toBe(EXIT_WRONG_SETTINGS);
}

/** Sends a command of CLUSTER to a node. */
async function cluster(node: TestRedis | undefined, ...words: string[]): Promise<unknown> {
  const client = createClient({ url: node?.url ?? '' });
  await client.connect();
  try {
    return await client.sendCommand(['CLUSTER', ...words]);
  } finally {
    client.destroy();
  }
}

const SLOTS = 16_384;
const slots = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => String(from + at));

async function divideSlots([first, second]: TestRedis[]): Promise<void> {
  await cluster(first, 'ADDSLOTS', ...slots(0, SLOTS / 2));
  await cluster(second, 'ADDSLOTS', ...slots(SLOTS / 2, SLOTS));
  await cluster(first, 'MEET', '127.0.0.1', String(second?.port));
  while (!String(await cluster(first, 'INFO')).includes('cluster_state:ok')) await sleep(100);
}

const names = Object.keys(commands) as (keyof typeof commands)[];

describe('a Redis in cluster mode is refused with a sentence', () => {
  test.each(names)('by %s before its slots are assigned', (name) => expectRefusal(commands[name]), 30_000);

  test('by `npm start`, which stops instead of starting its processes again', async () => {
    const { code, stdout, stderr } = await runQuire(['up'], await environment());
    expect(stdout + stderr).toMatch(REFUSAL);
    expect(code).toBe(1);
  }, 30_000);

  test('by a backup and a restore', async () => {
    const env = { QUIRE_DATA_DIR: folder, QUIRE_DEV_MODE: 'true' };
    const place = join(folder, 'backup');
    const other = await startTestRedis();
    try {
      const client = createClient({ url: other.url });
      await client.connect();
      await openDataSet(client, { model: 'builtin', vectorType: 'float32' });
      client.destroy();
      const made = await runQuire(['backup', place], { ...env, REDIS_URL: other.url });
      expect(made).toMatchObject({ code: 0, stderr: '' });
    } finally {
      await other.stop();
    }
    const clustered = { ...env, REDIS_URL: nodes[0]?.url ?? '' };
    for (const args of [
      ['backup', join(folder, 'another')],
      ['restore', place],
    ]) {
      const { code, stderr } = await runQuire(args, clustered);
      expect(stderr).toMatch(REFUSAL);
      expect(code).toBe(1);
    }
  }, 60_000);

  test('by each process where it says of some keys that they have moved', async () => {
    await divideSlots(nodes);
    for (const name of names) await expectRefusal(commands[name]);
  }, 60_000);
});
