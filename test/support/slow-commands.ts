import { readFile } from 'node:fs/promises';
import type { Redis } from '../../src/shared/redis.js';
import type { TestRedis } from './redis.js';

export interface SlowCommand {
  readonly milliseconds: number;
  /** Its name and the beginning of its arguments. */
  readonly command: string;
}

const TRIES = 3;

/**
 * Commands of a piece of work that held Redis up for longer than `milliseconds`, by its SLOWLOG: those of the quickest
 * of three tries, since the machine may be busy with something else. The log goes by the clock, so that its times are
 * divided by how much longer the server took than it ran (where the kernel tells). On a machine that has more to do than
 * it can, that is a rough measure, and three times as much is let pass. The Query Engine's own commands (`FT.*`) are left
 * out.
 */
export async function slowCommands(
  { redis, server }: { readonly redis: Redis; readonly server: TestRedis },
  milliseconds: number,
  work: () => Promise<unknown>,
): Promise<SlowCommand[]> {
  await redis.configSet({
    'slowlog-log-slower-than': String(milliseconds * 1_000),
    'slowlog-max-len': '1000',
  });
  let least: SlowCommand[] = [];
  for (let tries = 0; tries < TRIES; tries += 1) {
    await redis.sendCommand(['SLOWLOG', 'RESET']);
    const before = await schedule(server);
    await work();
    const after = await schedule(server);
    const ran = Math.max(1, after.ran - before.ran);
    const slowdown = (ran + after.waited - before.waited) / ran;
    const slow = parse(await redis.sendCommand(['SLOWLOG', 'GET', '1000']))
      .filter(({ command }) => !/^(?:FT|_FT|CONFIG|SLOWLOG)\b/i.test(command))
      .map((each) => ({ ...each, milliseconds: each.milliseconds / slowdown }))
      .filter((each) => each.milliseconds > (slowdown > 2 ? 3 : 1) * milliseconds);
    if (slow.length === 0) return [];
    if (tries === 0 || worst(slow) < worst(least)) least = slow;
  }
  return least;
}

const worst = (commands: readonly SlowCommand[]) =>
  Math.max(...commands.map(({ milliseconds }) => milliseconds));

/** Nanoseconds that the server's main thread ran, and that it could have run but for others. */
async function schedule({ pid }: TestRedis): Promise<{ ran: number; waited: number }> {
  const text = await readFile(`/proc/${String(pid)}/task/${String(pid)}/schedstat`, 'utf8').catch(
    () => '0 0',
  );
  const [ran, waited] = text.split(' ').map(Number);
  return { ran: ran ?? 0, waited: waited ?? 0 };
}

function parse(reply: unknown): SlowCommand[] {
  if (!Array.isArray(reply)) throw new Error('no slow log');
  return reply.map((entry: unknown) => {
    if (!Array.isArray(entry)) throw new Error('no entry of a slow log');
    const words = Array.isArray(entry[3]) ? entry[3] : [];
    const command = words
      .slice(0, 4)
      .map((word: unknown) => String(word).replace(/\s+/g, ' ').slice(0, 60))
      .join(' ');
    return { milliseconds: Number(entry[2]) / 1_000, command };
  });
}
