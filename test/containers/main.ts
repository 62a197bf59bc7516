// npm run try:containers: builds the image of the Dockerfile on stand-ins for the base images, starts the whole
// docker-compose.yml with podman, on a Redis with and without the Query Engine, and works with it while its containers
// are scaled, restarted, killed and stopped.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from '../support/redis.js';
import { readComposeFile, type ComposeFile } from './compose-file.js';
import { inspectImage } from './image.js';
import { podman } from './podman.js';
import { createStack } from './stack.js';
import { buildQuire, enginesAtHand, IMAGES, makeStandIns, type Engine } from './stand-ins.js';
import { say, work } from './work.js';

const TOOLS = ['podman', 'buildah', 'runc', 'debootstrap', 'iptables', 'catatonit', 'npm'];

function missing(): string | null {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const absent = TOOLS.filter((tool) => !folders.some((folder) => existsSync(join(folder, tool))));
  if (absent.length > 0) return `not installed: ${absent.join(', ')} (packages of Debian)`;
  return process.getuid?.() === 0 ? null : 'not run as root';
}

/** The file as it is, but for what tells the Redis with the Query Engine from the one without. */
async function composeFile(engine: Engine, port: number): Promise<ComposeFile> {
  const file = await readComposeFile('docker-compose.yml', {
    JWT_SECRET_KEY: randomBytes(32).toString('hex'),
    QUIRE_PUBLISH: `127.0.0.1:${String(port)}`,
  });
  // A Redis without the Query Engine is healthy when it answers.
  if (engine === 'exact')
    file.services['redis']?.healthcheck.test.splice(1, Infinity, 'redis-cli', '-e', 'PING');
  return file;
}

async function tryOn(engine: Engine): Promise<void> {
  const port = await freePort();
  const stack = await createStack(await composeFile(engine, port), {
    quire: IMAGES.quire,
    'redis:8': IMAGES.redis[engine],
    'haproxy:3.2-alpine': IMAGES.proxy,
  });
  try {
    await work(stack, { origin: `http://127.0.0.1:${String(port)}`, engine });
  } finally {
    await stack.remove();
  }
}

async function versionsOf(engines: readonly Engine[]): Promise<string> {
  const ask = async (image: string, ...command: string[]) =>
    (
      await podman(
        'run',
        '--rm',
        '--ulimit',
        'nofile=1024:1024',
        '--ulimit',
        'nproc=1024:1024',
        image,
        ...command,
      )
    )
      .split('\n')
      .at(0) ?? '';
  const redis = await Promise.all(
    engines.map(async (engine) => `${await ask(IMAGES.redis[engine], 'redis-cli', '--version')} (${engine})`),
  );
  const node = await ask(IMAGES.node, 'node', '--version');
  return [`Node.js ${node}`, ...redis, await ask(IMAGES.proxy, 'haproxy', '-v')].join(', ');
}

const { values } = parseArgs({
  options: { fresh: { type: 'boolean', default: false }, engine: { type: 'string' } },
});
const reason = missing();
if (reason !== null) {
  say(`skipped: ${reason}`);
  process.exit(0);
}
const engines = enginesAtHand().filter((engine) => values.engine === undefined || engine === values.engine);
if (engines.length === 0) throw new Error(`no Redis for ${values.engine ?? 'anything'} is at hand`);
await makeStandIns(engines, values);
say(`stand-ins on Debian 12: ${await versionsOf(engines)}`);
await buildQuire(values);
say(await inspectImage(IMAGES.quire, IMAGES.node));
for (const engine of engines) await tryOn(engine);
say(`passed on ${engines.join(' and ')}`);
if (!enginesAtHand().includes('query-engine'))
  say('not tried: a Redis with the Query Engine (QUIRE_TEST_QUERY_ENGINE names no folder of one)');
