import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { onPath, type Environment } from '../executables.js';
import { say, UserError } from '../user-messages.js';
import { runWithoutServices } from '../service-policy.js';

function adviceFor(env: Environment): string {
  if (onPath('apt-get', env) !== null) return 'sudo apt-get install -y redis-server';
  if (onPath('dnf', env) !== null) return 'sudo dnf install -y redis';
  if (onPath('apk', env) !== null) return 'sudo apk add redis';
  if (onPath('pacman', env) !== null) return 'sudo pacman -S --noconfirm valkey';
  if (onPath('brew', env) !== null) return 'brew install redis';
  return 'docker run -d -p 6379:6379 redis:8 redis-server --appendonly yes --maxmemory-policy noeviction';
}

function run(command: string, args: readonly string[], env: Environment): boolean {
  // Output goes to stderr, because stdout is for the requested output.
  const { status } = spawnSync(command, args, { stdio: ['ignore', 2, 2], env: { ...env } });
  return status === 0;
}

/**
 * Installs the package `redis-server` on Debian and Ubuntu, as root, without a running or enabled system service.
 * @throws UserError with the command that installs one, if that is impossible or forbidden, or if it fails
 */
export function installRedis(env: Environment): void {
  const advice = `Quire needs a Redis. Install one with\n  ${adviceFor(env)}\nor set REDIS_URL to one that runs.`;
  const { QUIRE_NO_INSTALL: noInstall = '' } = env;
  const forbidden = !['', '0', 'false'].includes(noInstall);
  const possible =
    existsSync('/etc/debian_version') && process.getuid?.() === 0 && onPath('apt-get', env) !== null;
  if (forbidden || !possible) throw new UserError(advice);

  say('No Redis found: installing the package redis-server (set QUIRE_NO_INSTALL=1 to forbid this).');
  const quiet = { ...env, DEBIAN_FRONTEND: 'noninteractive' };
  // If the update fails, the existing package lists may still contain the package.
  if (!run('apt-get', ['update', '-q'], quiet))
    say('apt-get update failed; trying the package lists at hand.');
  const install = ['install', '-y', '-q', '--no-install-recommends', 'redis-server'];
  if (!runWithoutServices({ command: 'apt-get', args: install, env: quiet }))
    throw new UserError(`apt-get failed. ${advice}`);
  if (existsSync('/run/systemd/system') && !run('systemctl', ['disable', '--quiet', 'redis-server'], quiet)) {
    say('The system service redis-server could not be disabled; Quire does not use it.');
  }
}
