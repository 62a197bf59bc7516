import { setTimeout as sleep } from 'node:timers/promises';
import { observed, oneOf, statusOf, type Attack, type Observed, type Target } from '../attack.js';
import { closeAll, headOf, openMany } from '../connections.js';

/** A sign that takes four bytes wherever it is. */
const WIDE = '\u{1f512}';
export const widest = (letter: string): string[] =>
  Array.from({ length: 1_000 }, (_, i) => `${String(i).padStart(3, '0')}${WIDE.repeat(250)}${letter}`);

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

/** Asks for a document of the widest lists, which is an answer of 2 MB. */
async function askForWide(target: Target, line: string): Promise<Observed> {
  const access_control = { readers: widest('r'), writers: widest('w') };
  const ingest = target.as('wide').ingestText('Of many.', { access_control }, { prefer: 'wait=60' });
  const { status, body } = await ingest;
  if (status !== 200 && status !== 202)
    return { answer: String(status), wrong: 'the document was not taken' };
  return askAndStop(target, 'wide', line.replace('{id}', body.external_id));
}

export const unreadAttacks: readonly Attack[] = [
  ...['GET /documents/{id}', 'POST /documents/{id}/cancel'].map((line) => ({
    name: `answers of 2 MB to ${line} that nobody reads`,
    patienceSeconds: 200,
    growth: 400,
    run: (target: Target) => askForWide(target, line),
  })),
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
