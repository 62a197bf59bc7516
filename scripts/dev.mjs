// `npm run dev` runs the whole service on the data of `npm start`. Files that change in src/ are compiled, and the processes
// that run them are restarted. Types are not checked; the editor and `npm run check` do that.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { prepare, root } from './prepare.mjs';

prepare();
const { compileOnChange } = await import('./dev/compile-on-change.mjs');
const { touchedBy } = await import('./dev/imports.mjs');
const { loadSettings } = await import('../dist/shared/settings/load.js');
const { usesEmbeddingModel } = await import('../dist/shared/settings/chosen-adapters.js');
const { needsModelsProcess } = await import('../dist/shared/local-models/named-models.js');
const { findOrInstallRedisServer } = await import('../dist/cli/redis/find-redis.js');
const { lockDataDirectory } = await import('../dist/cli/locks.js');
const { startOwnRedis } = await import('../dist/cli/redis/own-redis.js');
const { assertPortIsFree } = await import('../dist/cli/free-port.js');
const { untilRedisAnswers } = await import('../dist/cli/redis/reach-redis.js');
const { addressOf, untilReady, welcome } = await import('../dist/cli/readiness.js');

/** Time for a process to finish its work before it is restarted. Unfinished jobs are repeated. */
const PATIENCE_MS = 500;

const say = (text) => process.stderr.write(`${text}\n`);
const running = new Map();
const stop = new AbortController();
/** Aborts the wait for a restarted API when it is restarted again. */
let waiting = new AbortController();

const settings = loadSettings(process.env, ['secret']);
const processes = [
  { name: 'api', entry: join(root, 'dist/api/main.js') },
  { name: 'workers', entry: join(root, 'dist/workers/main.js') },
  ...(needsModelsProcess(settings) ? [{ name: 'models', entry: join(root, 'dist/models/main.js') }] : []),
];
const { redisUrl, redis } = await openRedis();
const address = addressOf(settings.api);
for (const { name } of processes) start(name);
compileOnChange(root, restart);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void end());
if (await isReady()) {
  process.stdout.write(
    `${welcome(address, { devMode: settings.devMode, usesModel: usesEmbeddingModel(settings) })}\n`,
  );
  say('watching src/');
}

/** Waits until the API is ready. Resolves with false when the signal aborts before. */
async function isReady(signal = stop.signal) {
  try {
    await untilReady(address, signal);
    return true;
  } catch (error) {
    if (!signal.aborted) throw error;
    return false;
  }
}

async function openRedis() {
  try {
    await assertPortIsFree(settings.api.host, settings.api.port);
    await lockDataDirectory(settings.dataDirectory, { hasOwnSecret: settings.jwtSecretKey !== null });
    if (settings.redis.url !== '') return { redisUrl: settings.redis.url, redis: null };
    const server = findOrInstallRedisServer(process.env);
    const own = await startOwnRedis({ server, dataDirectory: settings.dataDirectory, onHopeless: fail });
    await untilRedisAnswers(own.url, 3_600_000, stop.signal);
    return { redisUrl: own.url, redis: own.child };
  } catch (error) {
    return fail(error.message);
  }
}

function fail(message) {
  say(message);
  process.exit(1);
}

function start(name) {
  const { entry } = processes.find((each) => each.name === name);
  const env = { ...process.env, REDIS_URL: redisUrl, QUIRE_API_SHUTDOWN_DELAY_SECONDS: '0' };
  delete env.QUIRE_REDIS_URL;
  const child = fork(entry, [], { env, detached: true, stdio: ['ignore', 1, 2, 'ipc'] });
  running.set(name, child);
  child.on('exit', (code) => {
    if (running.get(name) === child && !stop.signal.aborted)
      say(`${name} ended with ${code}; it starts again when a file of its own changes`);
  });
}

async function halt(name, patienceMs) {
  const child = running.get(name);
  running.delete(name);
  if (child === undefined) return;
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs);
  await exited;
  clearTimeout(timer);
}

async function restart(changed, targets) {
  const began = performance.now();
  const touched = touchedBy(targets, processes);
  await Promise.all(touched.map((name) => halt(name, PATIENCE_MS)));
  if (stop.signal.aborted) return;
  for (const name of touched) start(name);
  const what = touched.length > 0 ? `${touched.join(' and ')} started again` : 'no running process has it';
  say(`${changed.map((path) => path.slice(root.length + 1)).join(', ')}: ${what}`);
  // Another change may come before the API is ready and restart it again.
  if (touched.includes('api')) void sayWhenReady(began);
}

async function sayWhenReady(began) {
  waiting.abort();
  waiting = new AbortController();
  if (!(await isReady(AbortSignal.any([stop.signal, waiting.signal])))) return;
  say(`ready after ${((performance.now() - began) / 1_000).toFixed(1)} s`);
}

async function end() {
  if (stop.signal.aborted) process.exit(130);
  stop.abort();
  await Promise.all([...running.keys()].map((name) => halt(name, 26_000)));
  await redis?.stop(3_000);
  process.exit(0);
}
