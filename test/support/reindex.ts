import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Service } from './service.js';

const main = new URL('../../dist/reindex/main.js', import.meta.url);

/** `npx quire reindex` with these settings, on the data of a service. */
export function startReindex(service: Service, env: Readonly<Record<string, string>> = {}) {
  const { NODE_OPTIONS: _, ...inherited } = process.env;
  const child: ChildProcess = fork(main, [], {
    env: {
      ...inherited,
      QUIRE_CONFIG: '/dev/null',
      QUIRE_DEV_MODE: 'true',
      REDIS_URL: service.redis.url,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (part: string) => (output += part));
  }
  const ended = once(child, 'exit').then(() => child.exitCode);
  return {
    child,
    output: () => output,
    /** Exit code; null when a signal ended it. */
    ended,
  };
}
