import type { Redis } from '../../src/shared/redis.js';

export interface SlowCommand {
  readonly milliseconds: number;
  /** Its name and the beginning of its arguments. */
  readonly command: string;
}

const TRIES = 3;

/**
 * Commands of a piece of work that held Redis up for longer than `milliseconds`, by its SLOWLOG: those of the quickest
 * of three tries, since the machine may be busy with something else. The Query Engine's own (`FT.*`) are left out.
 */
export async function slowCommands(
  redis: Redis,
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
    await work();
    const found = (await redis.sendCommand(['SLOWLOG', 'GET', '1000'])) as unknown;
    const slow = parse(found).filter(({ command }) => !/^(?:FT|_FT|CONFIG|SLOWLOG)\b/i.test(command));
    if (slow.length === 0) return [];
    if (tries === 0 || worst(slow) < worst(least)) least = slow;
  }
  return least;
}

const worst = (commands: readonly SlowCommand[]) =>
  Math.max(...commands.map(({ milliseconds }) => milliseconds));

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
