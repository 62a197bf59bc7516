import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder that holds `dist/` and `node_modules/`. */
const CODE = fileURLToPath(new URL('../../../..', import.meta.url));

export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** How parser processes are started. */
export interface Launch {
  /** Whom they run as; null: the worker's own user. */
  readonly user: User | null;
  /** Whether they keep the worker's network; else they have one of their own with nobody in it. */
  readonly hasNetwork: boolean;
  /** Whether setpriv starts them: they gain no privileges by any file, and die with the worker whatever they do. */
  readonly hasSetpriv: boolean;
  /** Whether code and Node.js are handed over open, because `user` cannot reach their folders by path. */
  readonly isHandedOver: boolean;
}

interface Start {
  readonly script: string;
  /** The process's own folder: where it works, and for temporary files. */
  readonly folder: string;
  readonly nodeOptions?: readonly string[];
  /** Commands of the shell that becomes Node.js, such as `ulimit -v 2097152`. */
  readonly limits?: readonly string[];
  readonly stdio: readonly ['ignore', 'ignore' | 'pipe', 'pipe', ...('ipc' | 'ignore')[]];
}

const HANDED_NODE = 4;
const HANDED_CODE = 5;

/** Starts a script as `launch` says, in a process group of its own, with nothing of this process's environment. */
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
      serialization: 'json',
      detached: true,
      cwd: start.folder,
      env: { LANG: 'C.UTF-8', TMPDIR: start.folder, UV_THREADPOOL_SIZE: '1', MALLOC_ARENA_MAX: '2' },
      ...(user && !hasSetpriv ? user : {}),
    });
  } finally {
    for (const descriptor of handed) closeSync(descriptor);
  }
}

/** What runs before the shell: it enters namespaces, then drops privileges, each by becoming the next. */
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

/** Of util-linux, which Debian always has; looked for where only root may put programs. */
function toolPath(name: string): string | null {
  const folders = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}
