import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { prepare, root } from './prepare.mjs';

prepare();
await import('./build-clients.mjs');
const { findOrInstallRedisServer } = await import('../dist/cli/redis/find-redis.js');

let server;
try {
  server = findOrInstallRedisServer(process.env);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}

const jest = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js'];
const names = process.argv.slice(2).map(placeOf);
const [mode, ...named] = names;
const MODES = { '--watch': watch, '--fast': fast, '--trials': trials };
const child = spawn(
  process.execPath,
  [...jest, ...(Object.hasOwn(MODES, mode) ? await MODES[mode](named) : all(names))],
  {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, QUIRE_TEST_REDIS_SERVER: server },
  },
);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => {
  process.exitCode = signal === null ? code : 1;
});

/** `index` is the folder test/index, and not everything with such a word in its path. */
function placeOf(name) {
  return !name.startsWith('-') && existsSync(join(root, 'test', name)) ? `/test/${name}/` : name;
}

/** Names choose among all tests; without one, all but the trials run. */
function all(names) {
  if (names.some((name) => !name.startsWith('-'))) return names;
  return [...names, '--selectProjects', 'pure', 'redis', 'long', 'e2e', 'alone', 'alone-e2e'];
}

/** Tests of parts that take less than two seconds. */
function fast(names) {
  return [...names, '--selectProjects', 'pure', 'redis'];
}

/** Chaos and attacks, which take minutes. */
function trials(names) {
  return [...names, '--selectProjects', 'trials'];
}

/** Compiles files that change in src/. Jest reruns the named files, or those that were changed since the last commit. */
async function watch(names) {
  const { compileOnChange } = await import('./dev/compile-on-change.mjs');
  compileOnChange(root);
  const roots = ['test', 'dist'].map((folder) => `--roots=${join(root, folder)}`);
  // The roots come first, because an option with several values would also take the names that follow it.
  return [...roots, names.length > 0 ? '--watchAll' : '--watch', ...names];
}
