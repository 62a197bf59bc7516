import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';
import type { Client } from '../support/client.js';
import { listen, type Beat, type Song } from './song.js';

const beatSchema = z.object({
  kind: z.enum(['health', 'search', 'control']),
  status: z.number(),
  startedAt: z.number(),
  milliseconds: z.number(),
  /** When the oldest request began that has no answer yet; by the clock of that process, as `startedAt`. */
  oldest: z.number(),
});

/** Another caller, who searches and asks for health all the time, and a service without Quire beside. */
export interface Canary {
  /** Waits for all that was under way when it was called, and a round after it; then tells what was met meanwhile. */
  take(limit: { readonly withinMilliseconds: number }): Promise<Song>;
  stop(): Promise<void>;
}

export async function startCanary(url: string, client: Client): Promise<Canary> {
  const control = start('control-process.mjs', []);
  const first: unknown[] = await once(control, 'message');
  const address = `http://127.0.0.1:${String(first[0])}`;
  const child = start('canary-process.mjs', [url, client.authorization, address]);
  let beats: Beat[] = [];
  let last: z.infer<typeof beatSchema> | null = null;
  child.on('message', (message) => {
    last = beatSchema.parse(message);
    beats.push(last);
  });
  await once(child, 'message');
  return {
    take: async ({ withinMilliseconds }) => {
      const called = Math.max(0, ...beats.map(({ startedAt }) => startedAt));
      const isHeard = (kind: Beat['kind']) =>
        beats.some((each) => each.kind === kind && each.startedAt > called);
      while (!isHeard('health') || !isHeard('search') || (last?.oldest ?? 0) <= called)
        await once(child, 'message');
      const song = listen(beats, withinMilliseconds);
      beats = [];
      return song;
    },
    stop: async () => {
      await Promise.all([child, control].map(end));
    },
  };
}

const start = (file: string, args: string[]): ChildProcess =>
  fork(new URL(file, import.meta.url), args, { execArgv: [] });

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
