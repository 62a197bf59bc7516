import { setTimeout as sleep } from 'node:timers/promises';
import type { Arena } from './arena.js';
import type { Outcome, Sent } from './exchange.js';
import { checkSight } from './sight.js';

export type Answer = Extract<Outcome, { readonly type: 'answer' }>;

const PATIENCE_MS = 120_000;

/** Asks a service that nothing happens to any more: it has to answer. What comes is checked for foreign texts. */
export async function askCalmly(arena: Arena, caller: string, sent: Omit<Sent, 'caller'>): Promise<Answer> {
  const began = performance.now();
  for (;;) {
    const start = arena.history.tick();
    const outcome = await arena.exchange({ ...sent, caller });
    if (outcome.type === 'answer' && outcome.status !== 503 && outcome.status !== 429) {
      const end = arena.history.tick();
      const label = `${sent.method} ${sent.path} when all is quiet`;
      if (outcome.status < 400) checkSight(arena, { caller, label, text: outcome.text, start, end });
      return outcome;
    }
    if (performance.now() - began > PATIENCE_MS)
      throw new Error(`no answer to ${sent.method} ${sent.path} though nothing is wrong any more`);
    await sleep(100);
  }
}

/** Does something for each item, a few at a time. */
export async function forEachOf<Item>(
  items: readonly Item[],
  use: (item: Item, at: number) => Promise<void>,
): Promise<void> {
  const entries = [...items.entries()];
  const work = async () => {
    for (let next = entries.shift(); next; next = entries.shift()) await use(next[1], next[0]);
  };
  await Promise.all(Array.from({ length: 4 }, work));
}
