import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onPath, type Environment } from '../executables.js';
import { runWithoutServices } from '../service-policy.js';
import { UserError, say } from '../user-messages.js';

/** Finds the server that `redis-stack-server`, a shell script, would start with fixed options. */
function stackServer(env: Environment): string | null {
  const script = onPath('redis-stack-server', env);
  if (script === null) return null;
  const server = join(dirname(realpathSync(script)), 'redis-server');
  return existsSync(server) ? server : script;
}

function isRecent(path: string): boolean {
  const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8', timeout: 10_000 });
  const version = /v=(\d+)\.(\d+)/.exec(stdout);
  return version !== null && Number(version[1]) * 100 + Number(version[2]) >= 602;
}

/** Finds a Redis server of version 6.2 or newer on this machine. */
function findRedisServer(env: Environment): string | null {
  const servers = [onPath('redis-server', env), stackServer(env), onPath('valkey-server', env)];
  return servers.filter((path) => path !== null).find(isRecent) ?? null;
}

/**
 * Returns the path of a Redis server. If there is none, it is installed, if that is possible and allowed.
 * @throws UserError with the command that installs one
 */
export function findOrInstallRedisServer(env: Environment): string {
  const found = findRedisServer(env);
  if (found !== null) return found;
  installRedis(env);
  const installed = findRedisServer(env);
  if (installed !== null) return installed;
  throw new UserError(
    'The Redis that this system offers is older than 6.2. Install a newer one, or set REDIS_URL.',
  );
}

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
function installRedis(env: Environment): void {
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
