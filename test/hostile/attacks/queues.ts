import { observed, oneOf, statusOf, type Attack, type Target } from '../attack.js';

/** Milliseconds until a text of a caller is searchable. */
async function ingestSeconds({ as }: Target, user: string): Promise<number> {
  const start = performance.now();
  const { status } = await as(user).ingestText('One small text.', {}, { prefer: 'wait=100' });
  if (status !== 200) throw new Error(`the other caller's text: ${String(status)}`);
  return (performance.now() - start) / 1_000;
}

export const queueAttacks: readonly Attack[] = [
  {
    name: 'a caller who queues thousands of documents before another',
    patienceSeconds: 600,
    // The texts ingested meanwhile are data, which Redis and the exact index hold in memory.
    growth: 3_000,
    run: async (target) => {
      const count = target.isShort ? 200 : 10_000;
      const alone = await ingestSeconds(target, 'first');
      const content = Array.from({ length: 120 }, (_, n) => `Flood number ${String(n)} comes.`).join(' ');
      const statuses: (number | string)[] = [];
      for (let sent = 0; sent < count; sent += 50) {
        const batch = Array.from({ length: 50 }, () =>
          statusOf(target.attacker.ingestText(content, {}, { prefer: 'respond-async' })),
        );
        statuses.push(...(await Promise.all(batch)));
      }
      const beside = await ingestSeconds(target, 'second');
      const { answer, wrong } = observed(statuses, oneOf(200, 202, 429, 503));
      const late = beside - alone > 2 * target.slowness ? `${beside.toFixed(1)} s beside them` : null;
      return {
        answer: `${answer}; ${alone.toFixed(1)} s alone, ${beside.toFixed(1)} s beside`,
        wrong: late ?? wrong,
      };
    },
  },
];
