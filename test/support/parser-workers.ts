import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { until } from './until.js';

const said = z.looseObject({
  level: z.string().optional(),
  message: z.string().optional(),
  ready: z.number().optional(),
  chunks: z.array(z.string()).optional(),
  inside: z.unknown().optional(),
});

export interface ParserWorker {
  readonly process: ChildProcess;
  readonly lines: () => z.infer<typeof said>[];
  readonly exit: Promise<unknown>;
}

interface WorkerOptions {
  /** Command in front of node. */
  readonly wrapper?: readonly string[];
  readonly code?: string;
  readonly document?: string;
  readonly format?: string;
  /** Runs in place of a parser. */
  readonly script?: string;
  readonly inherited?: number;
}

/** A folder for parser pools in processes of their own, whose temporary files go to its `tmp`. */
export async function createParserWorkers() {
  const folder = await mkdtemp(join(tmpdir(), 'quire-confined-'));
  await chmod(folder, 0o755);
  await mkdir(join(folder, 'tmp'));
  await chmod(join(folder, 'tmp'), 0o1777);
  const started: ChildProcess[] = [];

  const start = (options: WorkerOptions = {}): ParserWorker => {
    const driver = join(process.cwd(), 'test/support/parser-worker.mjs');
    const args = [
      options.code ?? process.cwd(),
      options.document ?? '',
      options.format ?? '',
      options.script ?? '',
    ];
    const command = [...(options.wrapper ?? []), process.execPath, driver, ...args];
    const child = spawn(command[0] ?? '', command.slice(1), {
      stdio: ['ignore', 'pipe', 'inherit', options.inherited ?? 'ignore'],
      env: {
        PATH: process.env['PATH'],
        TMPDIR: join(folder, 'tmp'),
        JWT_SECRET_KEY: 'a-secret-of-the-worker-that-nobody-else-may-read',
      },
    });
    started.push(child);
    let output = '';
    child.stdout?.on('data', (data: Buffer) => (output += data.toString()));
    const lines = () =>
      output
        .split('\n')
        .slice(0, -1)
        .map((line) => said.parse(JSON.parse(line)));
    return { process: child, lines, exit: once(child, 'exit') };
  };

  return {
    folder,
    start,
    /** Runs `code` where a parser would run. @returns what it writes, as JSON, and what the worker says of its parsers */
    async runInside(code: string, options: WorkerOptions = {}) {
      const script = join(folder, 'inside.mjs');
      await writeFile(script, code);
      const worker = start({ ...options, script });
      await worker.exit;
      const inside = worker.lines().find((line) => 'inside' in line)?.inside;
      const report = worker.lines().find(({ message }) => message?.startsWith('parser processes'));
      return { inside, report };
    },
    async remove() {
      for (const child of started) child.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** @returns the process ids of its parsers, when they read */
export async function untilReady(worker: ParserWorker): Promise<number[]> {
  await until(() => worker.lines().some(({ ready }) => ready === 1));
  return await parsersOf(worker);
}

/** Process ids of a worker's parsers. */
async function parsersOf({ process: { pid } }: ParserWorker): Promise<number[]> {
  const path = `/proc/${String(pid)}/task/${String(pid)}/children`;
  return (await readFile(path, 'utf8')).split(' ').filter(Boolean).map(Number);
}

export async function statusOf(id: number): Promise<Record<string, string>> {
  const status = await readFile(`/proc/${String(id)}/status`, 'utf8');
  return Object.fromEntries(
    status.split('\n').map((line) => [line.split(':')[0] ?? '', line.split(':')[1]?.trim() ?? '']),
  );
}

export function isAlive(id: number): Promise<boolean> {
  return statusOf(id).then(
    ({ State }) => !/^[ZX]/.test(State ?? ''),
    () => false,
  );
}

/** A command in front of one that is to run as another user. */
export const as = (user: number) => [
  'setpriv',
  `--reuid=${String(user)}`,
  `--regid=${String(user)}`,
  '--clear-groups',
];
