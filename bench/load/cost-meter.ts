import { createClient } from 'redis';
import { processorSeconds } from '../../test/support/processes.js';
import { round } from '../support/client.js';

interface Reading {
  /** Seconds of the processor, by process. */
  readonly seconds: ReadonlyMap<string, number>;
  readonly commands: ReadonlyMap<string, { readonly calls: number; readonly microseconds: number }>;
  readonly bytesToRedis: number;
}

export interface CostMeter {
  read(): Promise<Reading>;
  close(): void;
}

/** Measures what a load takes of processes and of Redis. @param options.pids by the names that tables show */
export async function openCostMeter({
  pids,
  redisUrl,
}: {
  readonly pids: Readonly<Record<string, number | undefined>>;
  readonly redisUrl: string;
}): Promise<CostMeter> {
  const redis = createClient({ url: redisUrl });
  await redis.connect();
  return {
    read: async () => {
      const seconds = Object.entries(pids).map(
        async ([name, pid = 0]) => [name, await processorSeconds(pid)] as const,
      );
      return {
        seconds: new Map(await Promise.all(seconds)),
        commands: commandsIn(await redis.info('commandstats')),
        bytesToRedis: Number(/^total_net_input_bytes:(\d+)/m.exec(await redis.info('stats'))?.[1]),
      };
    },
    close: () => {
      redis.destroy();
    },
  };
}

function commandsIn(stats: string): Reading['commands'] {
  const found = stats.matchAll(/^cmdstat_(\S+?):calls=(\d+),usec=(\d+)/gm);
  return new Map(
    [...found].map(([, name = '', calls, usec]) => [
      name,
      { calls: Number(calls), microseconds: Number(usec) },
    ]),
  );
}

/** Commands that are called less often for a document are not shown. */
const RARE = 0.02;

/** The cost of each of some documents between two readings. */
export function costOfEach(before: Reading, after: Reading, documents: number) {
  const milliseconds = [...after.seconds].map(([name, seconds]) => {
    const taken = seconds - (before.seconds.get(name) ?? 0);
    return [name, round((1_000 * taken) / documents, 3)] as const;
  });
  const sum = milliseconds.reduce((total, [, each]) => total + each, 0);
  const commands = [...after.commands].map(([name, { calls, microseconds }]) => {
    const earlier = before.commands.get(name) ?? { calls: 0, microseconds: 0 };
    const share = (value: number) => round(value / documents, 2);
    return {
      name,
      calls: share(calls - earlier.calls),
      microseconds: share(microseconds - earlier.microseconds),
    };
  });
  return {
    /** Processor time by process, and of all of them. */
    milliseconds: { ...Object.fromEntries(milliseconds), sum: round(sum, 3) },
    kilobytesToRedis: round((after.bytesToRedis - before.bytesToRedis) / documents / 1_000),
    /** The longest commands first, each with its calls and its microseconds. */
    commands: commands
      .filter(({ calls }) => calls >= RARE)
      .sort((a, b) => b.microseconds - a.microseconds)
      .map(({ name, calls, microseconds }) => `${name} ${String(calls)} (${String(microseconds)} µs)`)
      .join(', '),
  };
}
