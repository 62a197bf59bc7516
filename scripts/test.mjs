import { spawn } from 'node:child_process';
import { prepare, root } from './prepare.mjs';

prepare();
const { findOrInstallRedisServer } = await import('../dist/cli/find-redis.js');

let server;
try {
  server = findOrInstallRedisServer(process.env);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}

const jest = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js'];
const child = spawn(process.execPath, [...jest, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, QUIRE_TEST_REDIS_SERVER: server },
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => {
  process.exitCode = signal === null ? code : 1;
});
