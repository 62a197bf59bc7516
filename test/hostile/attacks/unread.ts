import { setTimeout as sleep } from 'node:timers/promises';
import { observed, oneOf, statusOf, type Attack, type Observed, type Target } from '../attack.js';
import { closeAll, headOf, openMany } from '../connections.js';

/** A sign that takes four bytes wherever it is. */
const WIDE = '\u{1f512}';

/** Asks on many connections at once, and takes nothing of the answers until stalled readers are cut off. */
async function askAndStop(target: Target, user: string, line: string): Promise<Observed> {
  const { port, as, isShort, stalledSeconds } = target;
  const connections = await openMany(port, isShort ? 40 : 150);
  for (const { socket } of connections) {
    socket.write(headOf(as(user), line, 'Connection: close'));
    socket.pause();
  }
  await sleep((stalledSeconds + 10) * 1_000);
  for (const { socket } of connections) socket.resume();
  const isOpen = () => connections.some(({ socket }) => !socket.closed);
  for (let tries = 0; tries < 100 && isOpen(); tries += 1) await sleep(100);
  const refused = connections.filter(({ received }) => received().startsWith('HTTP/1.1 503')).length;
  const wrong = isOpen() ? 'stalled connections are still open' : null;
  closeAll(connections);
  return { answer: `${String(refused)} of ${String(connections.length)} × 503`, wrong };
}

export const unreadAttacks: readonly Attack[] = [
  {
    name: 'the latest operations, a thousand with long queries, that nobody reads',
    patienceSeconds: 300,
    growth: 400,
    prepare: async ({ as, isShort }) => {
      const reader = as('busy');
      const statuses: (number | string)[] = [];
      for (let n = 0; n < (isShort ? 100 : 1_000); n += 1)
        statuses.push(await statusOf(reader.searchChunks(`${String(n)} ${WIDE.repeat(512)}`, { k: 1 })));
      const { wrong } = observed(statuses, oneOf(200));
      if (wrong !== null) throw new Error(`searches: ${wrong}`);
    },
    run: (target) => askAndStop(target, 'busy', 'GET /usage/recent?limit=1000'),
  },
];
