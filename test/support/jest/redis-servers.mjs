// Jest runs this before and after the projects that need Redis: one server for each of its workers, which the files of that
// worker use one after another (test/support/use-test-redis.ts).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from 'redis';

let servers = [];

/** Starts the servers, and tells the workers where they are and how they are configured. */
export default async function startRedisServers({ maxWorkers }) {
  servers = await Promise.all(Array.from({ length: maxWorkers }, startServer));
  const known = await Promise.all(
    servers.map(async ({ port }) => ({ port, configuration: await configurationOf(port) })),
  );
  process.env.QUIRE_TEST_REDIS_SERVERS = JSON.stringify(known);
}

async function configurationOf(port) {
  const socket = { host: '127.0.0.1', port, reconnectStrategy: (retries) => retries < 400 && 25 };
  const client = createClient({ socket });
  client.on('error', () => undefined);
  await client.connect();
  const configuration = await client.configGet('*');
  client.destroy();
  return configuration;
}

export async function stopRedisServers() {
  await Promise.all(servers.map(({ stop }) => stop()));
  servers = [];
}

async function startServer() {
  const folder = mkdtempSync(join(tmpdir(), 'quire-redis-'));
  const port = await freePort();
  let isStopping = false;
  let child;
  const start = () => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    child = spawn(process.env.QUIRE_TEST_REDIS_SERVER ?? 'redis-server', argumentsFor(port, folder), {
      stdio: 'ignore',
    });
    // A test that shut it down, or ended it, gets another one that is empty and configured as the first was.
    child.on('exit', () => {
      if (!isStopping) start();
    });
    child.on('error', (error) => {
      isStopping = true;
      process.stderr.write(`the Redis of the tests did not start: ${error.message}\n`);
    });
  };
  start();
  return {
    port,
    stop: async () => {
      isStopping = true;
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
        const exited = once(child, 'exit');
        child.kill('SIGKILL');
        await exited;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** As `startTestRedis` starts one. */
function argumentsFor(port, folder) {
  const address = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
  const saving = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'no'];
  return [...address, ...saving, '--maxmemory-policy', 'noeviction'];
}

async function freePort() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
