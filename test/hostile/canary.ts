import { fork } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';
import type { Client } from '../support/client.js';

const beat = z.object({ kind: z.string(), status: z.number(), milliseconds: z.number() });

/** What the canary met since it was asked last. */
export interface Song {
  readonly worstMilliseconds: number;
  /** Answers other than 200. */
  readonly failures: readonly string[];
}

/** Another caller, who searches and asks for health all the time. */
export async function startCanary(url: string, client: Client) {
  const child = fork(new URL('canary-process.mjs', import.meta.url), [url, client.authorization], {
    execArgv: [],
  });
  let worst = 0;
  let failures: string[] = [];
  child.on('message', (message) => {
    const { kind, status, milliseconds } = beat.parse(message);
    worst = Math.max(worst, milliseconds);
    if (status !== 200) failures.push(`${kind} ${String(status)}`);
  });
  await once(child, 'message');
  return {
    /** Waits for a whole round that began after it was called, so that what goes on when it is called is heard. */
    take: async (): Promise<Song> => {
      // What is under way, and one of each after it.
      for (let beats = 0; beats < 4; beats += 1) await once(child, 'message');
      const song = { worstMilliseconds: Math.round(worst), failures };
      worst = 0;
      failures = [];
      return song;
    },
    stop: async (): Promise<void> => {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
