import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, lstat, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mendServicePolicy, runWithoutServices } from '../../src/cli/service-policy.js';
import { until } from '../support/until.js';

let folder = '';
let policy = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quire-policy-'));
  policy = join(folder, 'policy-rc.d');
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** The status that a package gets when it asks whether it may start its service. */
function ask(): number | null {
  return spawnSync(policy, ['redis-server', 'start']).status;
}

/** An installation in a process of its own, whose package manager waits for the file `go`. */
async function startInstallation() {
  const manager = join(folder, 'apt-get');
  await writeFile(
    manager,
    `#!/bin/sh\necho $$ > '${folder}/pid'\nwhile ! [ -e '${folder}/go' ]; do sleep 0.05; done\n`,
  );
  await chmod(manager, 0o755);
  const module = join(process.cwd(), 'dist/cli/service-policy.js');
  const code = `import { runWithoutServices } from ${JSON.stringify(module)};
    process.exit(runWithoutServices({ command: ${JSON.stringify(manager)}, args: [], env: process.env, policy: ${JSON.stringify(policy)} }) ? 0 : 1);`;
  const installer = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'ignore' });
  const exit = once(installer, 'exit');
  // The file is there a moment before there is a number in it; process 0 would be all of ours.
  const pid = () => readFile(join(folder, 'pid'), 'utf8').catch(() => '');
  await until(async () => (await pid()).endsWith('\n'));
  return { installer, exit, manager: Number(await pid()) };
}

describe('while a package is installed', () => {
  test('services may not start, and nothing is left of that afterwards', async () => {
    const { exit } = await startInstallation();
    expect(ask()).toBe(101);
    await writeFile(join(folder, 'go'), '');
    expect(await exit).toEqual([0, null]);
    expect((await readdir(folder)).sort()).toEqual(['apt-get', 'go', 'pid']);
  });

  test('a kill of the installer alone keeps services off until the package manager has ended', async () => {
    const { installer, exit, manager } = await startInstallation();
    installer.kill('SIGKILL');
    await exit;
    mendServicePolicy(policy);
    expect(ask()).toBe(101);
    await writeFile(join(folder, 'go'), '');
    await until(() => !isAlive(manager));
    expect(ask()).toBe(0);
    expect(await readdir(folder)).not.toContain('policy-rc.d');
  });

  test('what a kill of all of it leaves forbids nothing, and is gone after the next start', async () => {
    const { installer, exit, manager } = await startInstallation();
    installer.kill('SIGKILL');
    process.kill(manager, 'SIGKILL');
    await exit;
    await until(() => !isAlive(manager));
    expect(await readdir(folder)).toContain('policy-rc.d');
    mendServicePolicy(policy);
    expect(await readdir(folder)).not.toContain('policy-rc.d');
  });

  test('an installation after a killed one forbids services again', async () => {
    const killed = await startInstallation();
    killed.installer.kill('SIGKILL');
    process.kill(killed.manager, 'SIGKILL');
    await killed.exit;
    await until(() => !isAlive(killed.manager));
    await rm(join(folder, 'pid'));
    const next = await startInstallation();
    expect(ask()).toBe(101);
    await writeFile(join(folder, 'go'), '');
    await next.exit;
    expect(await readdir(folder)).not.toContain('policy-rc.d');
  });

  test.each([[0], [1]])('an administrator’s own policy holds and stays (exit %s)', async (code) => {
    const own = `#!/bin/sh\n# by hand\nexit ${String(code)}\n`;
    await writeFile(policy, own);
    await chmod(policy, 0o755);
    const { installer, exit, manager } = await startInstallation();
    expect(ask()).toBe(code);
    installer.kill('SIGKILL');
    process.kill(manager, 'SIGKILL');
    await exit;
    mendServicePolicy(policy);
    expect(await readFile(policy, 'utf8')).toBe(own);
  });

  test('a policy that is a link into nothing is not written through', async () => {
    await symlink(join(folder, 'nowhere'), policy);
    expect(runWithoutServices({ command: 'true', args: [], env: process.env, policy })).toBe(true);
    expect((await lstat(policy)).isSymbolicLink()).toBe(true);
    expect(await readdir(folder)).toEqual(['policy-rc.d']);
  });

  test('a package manager that fails or is not there is a failure', () => {
    expect(runWithoutServices({ command: 'false', args: [], env: process.env, policy })).toBe(false);
    const missing = join(folder, 'missing');
    expect(runWithoutServices({ command: missing, args: [], env: process.env, policy })).toBe(false);
  });
});

function isAlive(id: number): boolean {
  // A zombie that nobody has waited for counts as ended.
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(id)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.trim().startsWith('Z');
}
