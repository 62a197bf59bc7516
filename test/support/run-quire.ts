import { spawn } from 'node:child_process';
import { inheritedEnvironment } from './service.js';

export interface QuireRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts a command of `npx quire`, with these settings and no others. */
export function startQuire(args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, ['dist/cli/main.js', ...args], {
    env: { ...inheritedEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = new Promise<QuireRun>((resolve) => {
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  return { child, ended, output: () => stdout + stderr };
}

export const runQuire = (args: readonly string[], env: Readonly<Record<string, string>>): Promise<QuireRun> =>
  startQuire(args, env).ended;
