import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** Without systemd: cgroups by hand, and no log driver of journald. */
const GENERAL = ['--runtime', 'runc', '--cgroup-manager', 'cgroupfs'];

/** @returns what it wrote. @throws with its last words when it fails */
export async function podman(...args: string[]): Promise<string> {
  const { stdout } = await run('podman', [...GENERAL, ...args], { maxBuffer: 64 * 1024 * 1024 });
  return stdout.trim();
}

export async function succeeds(...args: string[]): Promise<boolean> {
  return await podman(...args).then(
    () => true,
    () => false,
  );
}

/** Runs a command whose output is shown. */
export async function show(command: string, args: readonly string[], cwd?: string): Promise<void> {
  const child = spawn(command, args, { stdio: ['ignore', 2, 2], ...(cwd === undefined ? {} : { cwd }) });
  await once(child, 'exit');
  if (child.exitCode !== 0) throw new Error(`${command} ${args.join(' ')} failed`);
}
