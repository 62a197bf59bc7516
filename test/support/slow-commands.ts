import type { Redis } from '../../src/shared/redis/client.js';
import { watchSlowdown } from './slowdown.js';

export interface SlowCommand {
  readonly milliseconds: number;
  /** Its name and the beginning of its arguments. */
  readonly command: string;
}

/** The number of tries on a busy machine; the least disturbed one counts. */
const TRIES = 5;

/**
 * Commands of a piece of work that held Redis up for longer than `milliseconds`, by its SLOWLOG. The log goes by the
 * clock: its times are divided by how much longer the server took than it ran (where the kernel tells), and of a command,
 * or a script, counts the quickest of several tries that each do the whole work: what is slow by nature is slow every
 * time. The Query Engine's own commands (`FT.*`) are left out.
 */
export async function slowCommands(
  { redis }: { readonly redis: Redis },
  milliseconds: number,
  work: () => Promise<unknown>,
): Promise<SlowCommand[]> {
  await redis.configSet({
    'slowlog-log-slower-than': String(milliseconds * 1_000),
    'slowlog-max-len': '1000',
  });
  const pid = /process_id:(\d+)/.exec(await redis.info('server'))?.[1] ?? '';
  let suspects: ReadonlyMap<string, SlowCommand> | null = null;
  for (let tries = 0; tries < TRIES; tries += 1) {
    await redis.sendCommand(['SLOWLOG', 'RESET']);
    const slowdownNow = await watchSlowdown(pid);
    await work();
    const slowdown = await slowdownNow();
    const slow = slowest(parse(await redis.sendCommand(['SLOWLOG', 'GET', '1000'])), {
      slowdown,
      milliseconds,
    });
    suspects = suspects === null ? slow : inBoth(suspects, slow);
    if (suspects.size === 0) return [];
  }
  return [...(suspects ?? new Map<string, SlowCommand>()).values()];
}

/** The slowest of each kind. */
function slowest(
  entries: readonly Entry[],
  { slowdown, milliseconds: bound }: { slowdown: number; milliseconds: number },
): Map<string, SlowCommand> {
  const found = new Map<string, SlowCommand>();
  for (const { kind, command, milliseconds: taken } of entries) {
    const milliseconds = taken / slowdown;
    if (milliseconds <= bound || /^(?:FT|_FT|CONFIG|SLOWLOG)\b/i.test(command)) continue;
    if (milliseconds > (found.get(kind)?.milliseconds ?? 0)) found.set(kind, { command, milliseconds });
  }
  return found;
}

function inBoth(
  some: ReadonlyMap<string, SlowCommand>,
  others: ReadonlyMap<string, SlowCommand>,
): Map<string, SlowCommand> {
  const both = [...some].flatMap(([kind, one]): [string, SlowCommand][] => {
    const other = others.get(kind);
    return other ? [[kind, one.milliseconds < other.milliseconds ? one : other]] : [];
  });
  return new Map(both);
}

interface Entry extends SlowCommand {
  /** Its name, and of a script the source, of which the log has the beginning and the length. */
  readonly kind: string;
}

function parse(reply: unknown): Entry[] {
  if (!Array.isArray(reply)) throw new Error('no slow log');
  return reply.map((entry: unknown) => {
    if (!Array.isArray(entry)) throw new Error('no entry of a slow log');
    const words = (Array.isArray(entry[3]) ? entry[3] : []).map(String);
    const command = words.slice(0, 4).map((word) => word.replace(/\s+/g, ' ').slice(0, 60));
    const [name = '', script = ''] = words;
    const kind = /^eval/i.test(name) ? script : name;
    return { kind, milliseconds: Number(entry[2]) / 1_000, command: command.join(' ') };
  });
}
