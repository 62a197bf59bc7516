import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { prepare, root } from './prepare.mjs';

prepare();
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
const MODES = { '--watch': watch, '--fast': fast };
const child = spawn(
  process.execPath,
  [...jest, ...(Object.hasOwn(MODES, mode) ? await MODES[mode](named) : names)],
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

/** Tests of parts, which wait more than they compute: one worker more than there are for whole services. */
function fast(names) {
  const workers = Math.max(3, availableParallelism());
  return [`--maxWorkers=${workers}`, '--selectProjects', 'pure', 'redis', '--', ...names];
}

/** Compiles files that change in src/. Jest reruns the named files, or those that were changed since the last commit. */
async function watch(names) {
  const { compileOnChange } = await import('./dev/compile-on-change.mjs');
  compileOnChange(root);
  const roots = ['test', 'dist'].map((folder) => `--roots=${join(root, folder)}`);
  // The roots come first, because an option with several values would also take the names that follow it.
  return [...roots, names.length > 0 ? '--watchAll' : '--watch', ...names];
}
