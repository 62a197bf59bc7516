// npm run try:containers: builds the image of the Dockerfile on stand-ins for the base images, starts the whole
// docker-compose.yml with podman, and works with it while its containers are scaled, restarted, killed and stopped.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createCustomer, type Customer } from './customer.js';
import { readComposeFile } from './compose-file.js';
import { inspectImage } from './image.js';
import { podman } from './podman.js';
import { createStack, type Stack } from './stack.js';
import { buildQuire, IMAGES, makeStandIns } from './stand-ins.js';

const TOOLS = ['podman', 'buildah', 'runc', 'debootstrap', 'iptables', 'npm'];

function missing(): string | null {
  if (process.getuid?.() !== 0) return 'not run as root';
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const absent = TOOLS.filter((tool) => !folders.some((folder) => existsSync(join(folder, tool))));
  return absent.length === 0 ? null : `not installed: ${absent.join(', ')} (packages of Debian)`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address ? address.port : 0;
}

async function rollUnderLoad(stack: Stack, customer: Customer): Promise<void> {
  const load = customer.startLoad();
  for (const service of stack.services()) {
    // One Redis and one proxy: they cannot be restarted without a pause.
    if (service === 'redis' || service === 'proxy') continue;
    for (const name of stack.namesOf(service)) await stack.restart(service, name);
  }
  const { asked, failures } = await load.stop();
  if (failures.length > 0)
    throw new Error(
      `${String(failures.length)} of ${String(asked)} requests failed: ${[...new Set(failures)].slice(0, 5).join('; ')}`,
    );
  say(`restarted one by one: ${String(asked)} requests meanwhile, none failed`);
}

async function killEach(stack: Stack, customer: Customer): Promise<void> {
  for (const service of stack.services()) {
    const [name = ''] = stack.namesOf(service);
    await customer.ingest(`before the kill of ${service}`, 'respond-async');
    await stack.kill(service, name);
    for (const each of stack.services()) await stack.untilHealthy(each);
    await customer.checkAll();
    say(`killed ${name}: everything is found`);
  }
}

async function work(stack: Stack, origin: string): Promise<void> {
  await stack.up();
  say('docker-compose.yml is up and healthy');
  const token = await podman(
    'exec',
    'quire-try-api-1',
    ...['node', 'dist/cli/main.js', 'token', '--name', 'smoke'],
  );
  const customer = createCustomer(origin, token);
  await customer.ingest('A quire is a gathering of folded leaves.');
  await customer.ingestFile('<p>Paper is folded, gathered and sewn.</p>');
  await customer.checkAll();
  say('a text and a file are ingested and found');
  await stack.scale('api', 3);
  await stack.scale('worker-ingestion', 3);
  await sleep(3_000);
  await customer.ingest('after scaling out');
  await stack.scale('worker-ingestion', 2);
  await customer.checkAll();
  say('API and workers are scaled out, workers in again');
  await killEach(stack, customer);
  await stack.stopAll();
  await stack.startAll();
  await customer.checkAll();
  say('stopped and started again: everything is found');
  say(
    (await podman('logs', 'quire-try-worker-ingestion-1'))
      .split('\n')
      .find((line) => line.includes('parser processes')) ?? '',
  );
  await rollUnderLoad(stack, customer);
}

const reason = missing();
if (reason !== null) {
  say(`skipped: ${reason}`);
  process.exit(0);
}
const { hasQueryEngine } = await makeStandIns();
say(
  `stand-ins: Debian 12, Node.js ${await podman('run', '--rm', '--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=1024:1024', IMAGES.node, 'node', '--version')}, Redis ${hasQueryEngine ? 'with' : 'without'} the Query Engine`,
);
await buildQuire();
say(await inspectImage(IMAGES.quire, IMAGES.node));
const port = await freePort();
const file = await readComposeFile('docker-compose.yml', {
  JWT_SECRET_KEY: randomBytes(32).toString('hex'),
  QUIRE_PUBLISH: `127.0.0.1:${String(port)}`,
});
// A Redis without the Query Engine is healthy when it answers.
if (!hasQueryEngine) file.services['redis']?.healthcheck.test.splice(1, Infinity, 'redis-cli', '-e', 'PING');
// The Caddy of Debian 12 is 2.6, which knows no versions of addresses yet; the image's is newer.
for (const config of Object.values(file.configs))
  config.content = config.content.replace(/^\s*versions ipv4\n/m, '');
const stack = await createStack(file, {
  quire: IMAGES.quire,
  'redis:8': IMAGES.redis,
  'caddy:2': IMAGES.caddy,
});
try {
  await work(stack, `http://127.0.0.1:${String(port)}`);
  say('passed');
} finally {
  await stack.remove();
}
