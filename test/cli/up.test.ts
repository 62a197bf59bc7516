import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, mkdir, readdir, readFile, readlink, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { freePort } from '../support/redis.js';
import { runQuire } from '../support/run-quire.js';

let folder: string;
let port: number;
let started: ChildProcess[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quire-up-'));
  port = await freePort();
  started = [];
});

afterEach(async () => {
  for (const child of started) child.kill('SIGKILL');
  await eventually(async () => (await processesOf(folder)).length === 0);
  await rm(folder, { recursive: true, force: true });
});

interface Quire {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly exit: Promise<number | null>;
}

function startQuire(env: Record<string, string> = {}): Quire {
  const base = {
    PATH: process.env['PATH'],
    QUIRE_DATA_DIR: folder,
    PORT: String(port),
    QUIRE_NO_INSTALL: '1',
  };
  const child = spawn(process.execPath, ['dist/cli/main.js', 'up'], {
    env: { ...base, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => (output += data.toString()));
  const exit = once(child, 'close').then(() => child.exitCode);
  return { child, output: () => output, exit };
}

async function eventually(isSo: () => Promise<boolean> | boolean, patienceMs = 60_000): Promise<void> {
  const deadline = Date.now() + patienceMs;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error('did not happen in time');
    await sleep(50);
  }
}

async function untilReady({ output, child }: Quire): Promise<void> {
  await eventually(() => /^ready/m.test(output()) || child.exitCode !== null);
  expect(output()).toMatch(/^ready/m);
}

/** Processes that work for the data folder: it is in their environment, or (Redis) they work in it. */
async function processesOf(dataFolder: string): Promise<{ pid: number; command: string }[]> {
  const found = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    // A process may end while we look at it.
    const read = (file: string) => readFile(`/proc/${name}/${file}`, 'utf8').catch(() => '');
    const workingFolder = await readlink(`/proc/${name}/cwd`).catch(() => '');
    const isOurs = (await read('environ')).includes(`QUIRE_DATA_DIR=${dataFolder}\0`);
    if (!isOurs && !workingFolder.startsWith(dataFolder)) continue;
    found.push({ pid: Number(name), command: (await read('cmdline')).replaceAll('\0', ' ') });
  }
  return found;
}

const readinessSchema = z.object({ components: z.record(z.string(), z.string()) });

const idSchema = z.object({ external_id: z.string() });

async function ingest(content: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${String(port)}/ingest/text`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ content }),
  });
  expect(response.status).toBe(200);
  return idSchema.parse(await response.json()).external_id;
}

async function statusOf(path: string, headers: Record<string, string> = {}): Promise<number> {
  const url = `http://127.0.0.1:${String(port)}${path}`;
  return fetch(url, { headers }).then(
    ({ status }) => status,
    () => 0,
  );
}

/** Runs `quire token` in another terminal, on the same data folder. */
const makeToken = (env: Record<string, string>) =>
  runQuire(['token', '--name', 'alice'], { QUIRE_DATA_DIR: folder, ...env });

describe('quire up', () => {
  test('kills a frozen process four seconds after workers.drain_seconds', async () => {
    const quire = startQuire({ QUIRE_WORKERS_DRAIN_SECONDS: '1' });
    // It need not have started: it must only be there.
    const findWorker = async () =>
      (await processesOf(folder)).find(({ command }) => command.includes('workers/main.js'));
    await eventually(async () => (await findWorker()) !== undefined);
    const worker = await findWorker();
    expect(worker).toBeDefined();
    process.kill(worker?.pid ?? 0, 'SIGSTOP');
    const asked = performance.now();
    quire.child.kill('SIGINT');
    expect(await quire.exit).toBe(0);
    const seconds = (performance.now() - asked) / 1_000;
    expect(seconds).toBeGreaterThan(4.9);
    expect(seconds).toBeLessThan(20);
  }, 120_000);

  test('runs everything, refuses a second start, mends crashes, keeps the data, leaves nothing behind', async () => {
    const first = startQuire();
    await untilReady(first);
    expect(first.output().match(/^ready.*$/gm)).toEqual([`ready http://127.0.0.1:${String(port)}`]);
    expect(first.output()).toMatch(/^ {2}users .*dev_user.* "From dev mode to tokens"$/m);
    const document = await ingest('A quire is a gathering of folded leaves.');

    const samePort = startQuire({ QUIRE_DATA_DIR: join(folder, 'other') });
    const sameFolder = startQuire({ PORT: String(await freePort()) });
    expect(await samePort.exit).toBe(1);
    expect(samePort.output()).toContain(`Port ${String(port)} of 127.0.0.1 is in use`);
    expect(await sameFolder.exit).toBe(1);
    expect(sameFolder.output()).toContain(`running already with the data folder ${folder}`);
    expect(await statusOf('/health/ready')).toBe(200);

    const serving = (await processesOf(folder)).filter(({ pid }) => pid !== first.child.pid);
    expect(serving).toHaveLength(4);
    for (const { pid } of serving) process.kill(pid, 'SIGKILL');
    await eventually(async () => (await statusOf('/health/ready')) === 200);
    expect(await statusOf(`/documents/${document}`)).toBe(200);

    // One Ctrl-C arrives twice: from the terminal and from npm.
    first.child.kill('SIGINT');
    first.child.kill('SIGINT');
    expect(await first.exit).toBe(0);
    expect(await processesOf(folder)).toEqual([]);

    const second = startQuire();
    await untilReady(second);
    expect(await statusOf(`/documents/${document}`)).toBe(200);
    second.child.kill('SIGKILL');
    await eventually(async () => (await processesOf(folder)).length === 0);
    expect(await statusOf('/health')).toBe(0);
  });

  test('a worker that keeps dying is started again for ever; the API serves on and says which one is missing', async () => {
    const quire = startQuire();
    await untilReady(quire);
    const findWorker = async () =>
      (await processesOf(folder)).find(({ command }) => command.includes('--queues embedding,'));
    const isMissing = async () => {
      const response = await fetch(`http://127.0.0.1:${String(port)}/health/ready`);
      const { components } = readinessSchema.parse(await response.json());
      return components['worker-embedding'] === 'unavailable' && components['worker-ingestion'] === 'ready';
    };
    let deaths = 0;
    for (let known = 0; deaths < 6; deaths += 1) {
      await eventually(async () => ![undefined, known].includes((await findWorker())?.pid));
      known = (await findWorker())?.pid ?? 0;
      process.kill(known, 'SIGKILL');
    }
    await eventually(isMissing);
    const pauses = () => [...quire.output().matchAll(/worker-others ended \(SIGKILL\); .* in ([\d.]+) s/g)];
    await eventually(() => pauses().length === 6);
    expect(Number(pauses()[5]?.[1])).toBeGreaterThan(10);
    expect(quire.child.exitCode).toBeNull();
    expect(await statusOf('/health')).toBe(200);
    expect(await statusOf('/documents')).toBe(200);
    await eventually(async () => (await statusOf('/health/ready')) === 200);
    quire.child.kill('SIGINT');
    expect(await quire.exit).toBe(0);
  }, 180_000);

  test('processes end whose supervisor was killed while they were still being loaded', async () => {
    const quire = startQuire();
    const others = async () => (await processesOf(folder)).filter(({ pid }) => pid !== quire.child.pid);
    const started = async () =>
      (await others()).filter(({ command }) => /(api|workers)\/main\.js/.test(command));
    await eventually(async () => (await started()).length === 3);
    quire.child.kill('SIGKILL');
    // Without a Redis they would wait for one.
    for (const { pid, command } of await others())
      if (command.includes('redis-server')) process.kill(pid, 'SIGKILL');
    await eventually(async () => (await others()).length === 0, 30_000);
  }, 60_000);

  test('wrong settings stop the start, all of them named', async () => {
    const quire = startQuire({
      QUIRE_INDEX: 'fastest',
      QUIRE_CHUNK_SIZE: 'big',
      QUIRE_DEV_MODE: 'false',
    });
    expect(await quire.exit).toBe(1);
    expect(quire.output()).toContain('QUIRE_INDEX = "fastest": allowed: "auto" or "exact"');
    expect(quire.output()).toContain('QUIRE_CHUNK_SIZE = "big": allowed: a whole number');
    expect(quire.output()).toContain('JWT_SECRET_KEY');
    expect(await readdir(folder)).toEqual([]);
  });

  test('after dev mode it says what makes tokens, makes none that would not fit, and documents can be given', async () => {
    const open = startQuire();
    await untilReady(open);
    const document = await ingest('A quire is a gathering of folded leaves.');
    open.child.kill('SIGINT');
    expect(await open.exit).toBe(0);

    const JWT_SECRET_KEY = 'a secret of more than thirty-two bytes';
    const quire = startQuire({ QUIRE_DEV_MODE: 'false', JWT_SECRET_KEY });
    await untilReady(quire);
    expect(quire.output()).toMatch(/^ {2}tokens .*JWT_SECRET_KEY/m);
    expect(quire.output()).toMatch(/^ {2}dev mode .* npx quire documents give --from dev_user --to me$/m);
    for (const mode of ['true', 'false']) {
      const { code, stdout, stderr } = await makeToken({ QUIRE_DEV_MODE: mode });
      expect({ mode, code, stdout }).toEqual({ mode, code: 1, stdout: '' });
      expect(stderr).toMatch(/^The service .* was started with JWT_SECRET_KEY, which is not set here/);
    }
    const { code, stdout } = await makeToken({ QUIRE_DEV_MODE: 'false', JWT_SECRET_KEY });
    expect(code).toBe(0);
    expect(await statusOf('/documents')).toBe(401);
    const asAlice = { authorization: `Bearer ${stdout.trim()}` };
    expect(await statusOf('/documents', asAlice)).toBe(200);
    expect(await statusOf(`/documents/${document}`, asAlice)).toBe(403);
    // The command of README.md.
    const [, give = ''] = /^npx quire (documents give .*)$/m.exec(await readFile('README.md', 'utf8')) ?? [];
    expect(await runQuire(give.split(' '), { QUIRE_DATA_DIR: folder })).toEqual({
      code: 0,
      stdout: '1 document of dev_user now belongs to alice.\n',
      stderr: '',
    });
    expect(await statusOf(`/documents/${document}`, asAlice)).toBe(200);
    quire.child.kill('SIGINT');
    expect(await quire.exit).toBe(0);
    expect(await makeToken({ QUIRE_DEV_MODE: 'true' })).toMatchObject({ code: 0, stderr: '' });
  });

  test('without a Redis, and not allowed to install one, it names the one command to run', async () => {
    const path = join(folder, 'bin');
    await mkdir(path);
    await symlink(process.execPath, join(path, 'node'));
    const quire = startQuire({ PATH: path });
    expect(await quire.exit).toBe(1);
    expect(quire.output()).toContain('Quire needs a Redis. Install one with');
  });

  test('a Redis that does not answer is named before anything is started', async () => {
    const url = `redis://127.0.0.1:${String(await freePort())}`;
    const quire = startQuire({ REDIS_URL: url });
    expect(await quire.exit).toBe(1);
    expect(quire.output()).toContain('The Redis of REDIS_URL (redis.url) does not answer.');
  });
});
