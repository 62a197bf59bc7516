import { setTimeout as sleep } from 'node:timers/promises';
import { openRaw } from '../../support/raw-http.js';
import { observed, oneOf, STALLED_SECONDS, statusOf, type Attack, type Target } from '../attack.js';

/** A document of some 1,000 chunks (`chunk.size` 16) with metadata of nearly 16 KiB: each hit repeats it. */
async function ingestHeavy({ attacker }: Target): Promise<void> {
  const content = Array.from(
    { length: 1_400 },
    (_, n) => `The heavy sentence number ${String(n)} says so.`,
  ).join(' ');
  const { status } = await attacker.ingestText(
    content,
    { metadata: { heavy: 'h'.repeat(16_000) } },
    { prefer: 'wait=100' },
  );
  if (status !== 200) throw new Error(`the heavy document was not ingested: ${String(status)}`);
}

export const searchAttacks: readonly Attack[] = [
  {
    name: 'filters of as many values as a search may hold, and of more, one after the other',
    growth: 400,
    run: async ({ attacker, isShort }) => {
      const ask = (length: number, from: number) => {
        const values = Array.from({ length }, (_, i) => i + from);
        return statusOf(attacker.searchChunks('x', { filters: { n: { $in: values } } }));
      };
      const statuses: (number | string)[] = [];
      for (let n = 0; n < (isShort ? 3 : 20); n += 1) statuses.push(await ask(199_000, n));
      const refused = observed([await ask(900_000, 0)], oneOf(413));
      const { answer, wrong } = observed(statuses, oneOf(422));
      return { answer: `${answer}; ${refused.answer}`, wrong: wrong ?? refused.wrong };
    },
  },
  {
    name: 'a thousand filters of a thousand values',
    patienceSeconds: 300,
    run: async ({ attacker, isShort }) => {
      const statuses: (number | string)[] = [];
      for (let n = 0; n < (isShort ? 60 : 1_000); n += 1) {
        const values = Array.from({ length: 1_000 }, (_, i) => `${'v'.repeat(100)}${String(i)}-${String(n)}`);
        statuses.push(await statusOf(attacker.searchChunks('x', { filters: { n: { $in: values } } })));
      }
      return observed(statuses, oneOf(200));
    },
  },
  {
    name: 'large and odd pages',
    run: async ({ attacker }) => {
      const skips = [
        '1000000',
        '10000000',
        '4294967296',
        '9007199254740991',
        '9007199254740993',
        '1e400',
        '99999999999999999999',
      ];
      const paths = skips.flatMap((skip) => [
        `/documents?skip=${skip}`,
        `/documents?skip=${skip}&filters={"a":1}`,
      ]);
      return observed(await Promise.all(paths.map((path) => statusOf(attacker.get(path)))), oneOf(200, 422));
    },
  },
  {
    name: 'slow readers of answers of 14 MB',
    patienceSeconds: 200,
    growth: 400,
    run: async (target) => {
      await ingestHeavy(target);
      const count = target.isShort ? 15 : 40;
      const body = JSON.stringify({ query: 'heavy', k: 1000 });
      const head = `POST /retrieve/chunks HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: ${target.attacker.authorization}\r\nContent-Type: application/json\r\nContent-Length: ${String(body.length)}\r\n\r\n`;
      const connections = await Promise.all(Array.from({ length: count }, () => openRaw(target.port)));
      for (const { socket } of connections) {
        socket.write(head + body);
        socket.pause();
      }
      // What waits for memory has five seconds more.
      await sleep((STALLED_SECONDS + 10) * 1_000);
      // A reader who has stopped reading learns of the end only by reading on.
      for (const { socket } of connections) socket.resume();
      const isOpen = () => connections.some(({ socket }) => !socket.closed);
      for (let tries = 0; tries < 100 && isOpen(); tries += 1) await sleep(100);
      const texts = connections.map(({ received }) => received());
      const whole = texts.filter((text) => /^HTTP\/1\.1 200[^]*\r\n0\r\n\r\n$/.test(text)).length;
      const refused = texts.filter((text) => text.startsWith('HTTP/1.1 503')).length;
      const wrong = isOpen() ? 'stalled connections are still open' : null;
      for (const { socket } of connections) socket.destroy();
      return {
        answer: `${String(count - whole - refused)} of ${String(count)} cut off, ${String(refused)} × 503`,
        wrong: wrong ?? (whole > 0 ? `${String(whole)} got whole answers that they did not take` : null),
      };
    },
  },
  {
    name: 'large answers, all read',
    growth: 400,
    run: async ({ attacker, isShort }) => {
      const asked = Array.from({ length: isShort ? 6 : 20 }, () =>
        statusOf(attacker.searchChunks('heavy', { k: 1000 })),
      );
      return observed(await Promise.all(asked), oneOf(200, 503));
    },
  },
  {
    name: 'queries of 32,768 characters, kept as usage',
    patienceSeconds: 300,
    run: async (target) => {
      const count = target.isShort ? 50 : 1_000;
      const statuses: (number | string)[] = [];
      for (let n = 0; n < count; n += 1)
        statuses.push(
          await statusOf(target.attacker.searchChunks(`${String(n)} `.padEnd(32_768, 'q'), { k: 1 })),
        );
      const { body } = await target.attacker.get<{ metadata: { query?: string } }[]>(
        '/usage/recent?operation_type=retrieve_chunks&limit=50',
      );
      const longest = Math.max(...body.map(({ metadata }) => metadata.query?.length ?? 0));
      const seen = observed(statuses, oneOf(200));
      return {
        answer: `${seen.answer}; ${String(longest)} characters kept`,
        wrong: longest > 512 ? 'whole queries are kept' : seen.wrong,
      };
    },
  },
];
