import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../support/client.js';
import type { RawConnection } from '../../support/raw-http.js';
import { observed, oneOf, statusOf, type Attack, type Target } from '../attack.js';
import { closeAll, openMany, searchOf } from '../connections.js';

const [SLOW, OTHER_SLOW, PROMPT] = ['a slow reader', 'another slow reader', 'a prompt reader'] as const;

/** A document of some 1,000 chunks (`chunk.size` 16) with metadata of nearly 16 KiB: each hit repeats it. */
async function ingestHeavy({ attacker }: Target): Promise<void> {
  const content = Array.from(
    { length: 1_400 },
    (_, n) => `The heavy sentence number ${String(n)} says so.`,
  ).join(' ');
  const { status } = await attacker.ingestText(
    content,
    {
      metadata: { heavy: 'h'.repeat(16_000) },
      access_control: { readers: [SLOW, OTHER_SLOW, PROMPT] },
    },
    { prefer: 'wait=100' },
  );
  if (status !== 200) throw new Error(`the heavy document was not ingested: ${String(status)}`);
}

const HEAVY = { query: 'heavy', k: 1000 };

/** Asks for answers of 14 MB on connections of their own, and reads none of them. */
async function askAndStop(port: number, client: Client, count: number): Promise<RawConnection[]> {
  const connections = await openMany(port, count);
  for (const { socket } of connections) {
    socket.write(searchOf(client, JSON.stringify(HEAVY), 'Connection: close'));
    socket.pause();
  }
  return connections;
}

/** They take none of their answers. */
export const stalledReaders: Attack = {
  name: 'slow readers of answers of 14 MB',
  patienceSeconds: 200,
  growth: 400,
  prepare: ingestHeavy,
  run: async ({ port, attacker, isShort, stalledSeconds }) => {
    const count = isShort ? 15 : 40;
    const connections = await askAndStop(port, attacker, count);
    // Answers that wait for memory have five seconds more.
    await sleep((stalledSeconds + 10) * 1_000);
    // A reader who has stopped reading learns of the end only by reading on.
    for (const { socket } of connections) socket.resume();
    const isOpen = () => connections.some(({ socket }) => !socket.closed);
    for (let tries = 0; tries < 100 && isOpen(); tries += 1) await sleep(100);
    const texts = connections.map(({ received }) => received());
    const whole = texts.filter((text) => /^HTTP\/1\.1 200[^]*\r\n0\r\n\r\n$/.test(text)).length;
    const refused = texts.filter((text) => text.startsWith('HTTP/1.1 503')).length;
    const wrong = isOpen() ? 'stalled connections are still open' : null;
    closeAll(connections);
    return {
      answer: `${String(count - whole - refused)} of ${String(count)} cut off, ${String(refused)} × 503`,
      wrong: wrong ?? (whole > 0 ? `${String(whole)} got whole answers that they did not take` : null),
    };
  },
};

export const slowReaderAttacks: readonly Attack[] = [
  {
    name: 'slow readers of two callers beside a large answer of a third',
    patienceSeconds: 200,
    growth: 400,
    prepare: ingestHeavy,
    run: async ({ port, as, isShort, slowness, stalledSeconds }) => {
      const each = isShort ? 10 : 20;
      const slow = [SLOW, OTHER_SLOW].map((name) => askAndStop(port, as(name), each));
      const connections = (await Promise.all(slow)).flat();
      const prompt = as(PROMPT);
      const statuses: (number | string)[] = [];
      // Refused at most until those who stopped reading are cut off.
      const end = performance.now() + (stalledSeconds + 10) * 1_000 * slowness;
      while (statuses.at(-1) !== 200 && performance.now() < end) {
        await sleep(500);
        statuses.push(await statusOf(prompt.searchChunks(HEAVY.query, { k: HEAVY.k })));
      }
      closeAll(connections);
      const { answer, wrong } = observed(statuses, oneOf(200, 503));
      return { answer, wrong: statuses.at(-1) === 200 ? wrong : 'the third caller got no answer' };
    },
  },
  {
    name: 'large answers, all read',
    growth: 400,
    prepare: ingestHeavy,
    run: async ({ attacker, isShort }) => {
      const asked = Array.from({ length: isShort ? 6 : 20 }, () =>
        statusOf(attacker.searchChunks(HEAVY.query, { k: HEAVY.k })),
      );
      return observed(await Promise.all(asked), oneOf(200, 503));
    },
  },
];
