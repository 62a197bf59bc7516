import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that contains `dist/` and `node_modules/`. */
const CODE = fileURLToPath(new URL('../../../..', import.meta.url));

export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** The conditions under which parser processes are started. */
export interface Launch {
  /** The user that they run as; null for the worker's own user. */
  readonly user: User | null;
  /** True if they keep the worker's network. Otherwise they get an empty network namespace. */
  readonly hasNetwork: boolean;
  /** True if setpriv starts them. Then they cannot gain privileges, and they are killed when the worker ends. */
  readonly hasSetpriv: boolean;
  /** True if they get open descriptors of the code and of Node.js, because `user` cannot reach these by path. */
  readonly isHandedOver: boolean;
}

interface Start {
  readonly script: string;
  /** The process's own folder: its working directory, and the place for its temporary files. */
  readonly folder: string;
  readonly nodeOptions?: readonly string[];
  /** Commands that the shell runs before it executes Node.js, such as `ulimit -v 2097152`. */
  readonly limits?: readonly string[];
  readonly stdio: readonly ['ignore' | 'pipe', 'ignore' | 'pipe', 'pipe', ...'pipe'[]];
}

/**
 * Allocators reserve address space by far more than they use, and a process has little of it: mimalloc, which PDFium's library
 * brings, would take a gibibyte at once (its unit is KiB), and glibc 64 MiB for each thread.
 */
const SMALL_RESERVES = { MALLOC_ARENA_MAX: '2', MIMALLOC_ARENA_RESERVE: '65536' };

const HANDED_NODE = 4;
const HANDED_CODE = 5;

/** Starts a script as `launch` says, in its own process group and without the environment of this process. */
export function startConfined(launch: Launch, start: Start): ChildProcess {
  const { isHandedOver, user, hasSetpriv } = launch;
  const script = isHandedOver
    ? `/proc/self/fd/${String(HANDED_CODE)}/${relative(CODE, start.script)}`
    : start.script;
  const links = isHandedOver ? ['--preserve-symlinks', '--preserve-symlinks-main'] : [];
  const node = isHandedOver ? `/proc/self/fd/${String(HANDED_NODE)}` : process.execPath;
  const shell = [...(start.limits ?? []), 'exec "$@"'].join(' && ');
  const [command, ...args] = [
    ...wrapper(launch),
    '/bin/sh',
    '-c',
    shell,
    'sh',
    node,
    ...links,
    ...(start.nodeOptions ?? []),
    script,
  ];
  const handed = isHandedOver ? [openSync(process.execPath, 'r'), openSync(CODE, 'r')] : [];
  const [input, output, errors, channel = 'ignore'] = start.stdio;
  const stdio: StdioOptions = [input, output, errors, channel, ...handed];
  try {
    return spawn(command, args, {
      stdio,
      detached: true,
      cwd: start.folder,
      env: { LANG: 'C.UTF-8', TMPDIR: start.folder, UV_THREADPOOL_SIZE: '1', ...SMALL_RESERVES },
      ...(user && !hasSetpriv ? user : {}),
    });
  } finally {
    for (const descriptor of handed) closeSync(descriptor);
  }
}

/** Returns the commands that run before the shell. Each enters a namespace or drops privileges, and executes the next. */
function wrapper({ user, hasNetwork, hasSetpriv }: Launch): string[] {
  const namespaces = process.getuid?.() === 0 ? ['--net'] : ['--user', '--net'];
  const identity = user
    ? [`--reuid=${String(user.uid)}`, `--regid=${String(user.gid)}`, '--clear-groups', '--inh-caps=-all']
    : [];
  return [
    ...(hasNetwork ? [] : [toolPath('unshare') ?? 'unshare', ...namespaces, '--']),
    ...(hasSetpriv
      ? [toolPath('setpriv') ?? 'setpriv', ...identity, '--no-new-privs', '--pdeathsig=KILL', '--']
      : []),
  ];
}

/** Finds a program of util-linux, which Debian always has, in the folders that only root can write to. */
function toolPath(name: string): string | null {
  const folders = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}
