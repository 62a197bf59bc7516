import { setTimeout as sleep } from 'node:timers/promises';
import { openRaw, type RawConnection } from '../../support/raw-http.js';
import { observed, oneOf, statusOf, type Attack, type Target } from '../attack.js';
import {
  answersOf,
  closeAll,
  headOf,
  holdUploads,
  openMany,
  searchOf,
  statusLine,
  untilHeard,
} from '../connections.js';

/** The share of the service under attack: nearly all that it can have, so that attacks from one address are strong. */
export const CONNECTIONS_PER_ADDRESS = 300;
const MEGABYTES_8 = 8 * 1024 * 1024;
/** Every byte is a chunk of its own. */
const inChunks = (text: string): string => text.replaceAll(/./g, '1\r\n$&\r\n');
const CHUNKED = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
const QUERY = '{"query":"canary","k":1}';

const statusesOf = (connections: readonly RawConnection[]) =>
  connections.map(({ received }) => statusLine(received()));

/**
 * Sends a text on so many connections, one after the other. Node.js itself takes some 2 µs of the processor for a chunk, so
 * that each turn of the event loop meets only few of these texts.
 */
async function sendInTurn({ url, port }: Target, text: string, count: number): Promise<RawConnection[]> {
  const connections: RawConnection[] = [];
  while (connections.length < count) {
    const connection = await openRaw(port);
    connection.socket.write(text);
    connections.push(connection);
    await statusOf(fetch(`${url}/health`));
  }
  return connections;
}

/** A connection of its own, which is asked for health and stays open. */
async function visit(port: number, slowness: number): Promise<RawConnection> {
  const connection = await openRaw(port);
  connection.socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await untilHeard([connection], 5 * slowness);
  return connection;
}

/** Sends bodies to their last byte but one, more than anybody's share of the memory for bodies. */
async function holdBodies({ port, as, isShort }: Target): Promise<RawConnection[]> {
  const body = Buffer.alloc(MEGABYTES_8 - 1, ' ');
  const head = ['Content-Type: application/json', `Content-Length: ${String(MEGABYTES_8)}`];
  // Each may hold a quarter of that memory, which is four bodies.
  const callers = Array.from({ length: isShort ? 2 : 4 }, (_, n) => as(`idle-${String(n)}`));
  const held = callers.map(async (caller) => {
    const connections = await openMany(port, 4);
    for (const { socket } of connections) socket.write(headOf(caller, 'POST /ingest/text', ...head));
    for (const { socket } of connections) socket.write(body);
    return connections;
  });
  const announced = await openMany(port, isShort ? 20 : 100);
  for (const { socket } of announced) socket.write(headOf(as('announcer'), 'POST /ingest/text', ...head));
  return [...(await Promise.all(held)).flat(), ...announced];
}

export const connectionAttacks: readonly Attack[] = [
  {
    name: 'anonymous bodies in chunks of one byte, without an end',
    growth: 80,
    run: async (target) => {
      const head = ['POST /local/generate_uri HTTP/1.1', 'Host: localhost', ...CHUNKED].join('\r\n');
      const text = `${head}\r\n\r\n${inChunks(' '.repeat(15_000))}`;
      const connections = await sendInTurn(target, text, target.isShort ? 40 : 60);
      await sleep(500);
      const statuses = statusesOf(connections);
      closeAll(connections);
      return observed(statuses, oneOf('silent', 401, 413, 429, 503));
    },
  },
  {
    name: 'searches in chunks of one byte',
    growth: 80,
    run: async (target) => {
      const head = headOf(target.attacker, 'POST /retrieve/chunks', ...CHUNKED);
      const text = `${head}${inChunks(QUERY.padEnd(15_000))}0\r\n\r\n`;
      const connections = await sendInTurn(target, text, target.isShort ? 20 : 60);
      await untilHeard(connections, 30 * target.slowness);
      const statuses = statusesOf(connections);
      closeAll(connections);
      return observed(statuses, oneOf(200, 503));
    },
  },
  {
    name: 'hundreds of requests in a packet',
    run: async ({ port, attacker, slowness }) => {
      const connections = await openMany(port, 10);
      for (const { socket } of connections) socket.write(searchOf(attacker, QUERY).repeat(300));
      const end = performance.now() + 10_000 * slowness;
      while (performance.now() < end && !connections.every(({ socket }) => socket.closed)) await sleep(20);
      const statuses = connections.map(({ socket, received }) =>
        socket.closed ? statusLine(received()) : 'open',
      );
      closeAll(connections);
      return observed(statuses, oneOf('silent', 200));
    },
  },
  {
    name: 'as many requests in a packet as may wait',
    run: async ({ port, attacker, slowness }) => {
      const connections = await openMany(port, 10);
      for (const { socket } of connections) socket.write(searchOf(attacker, QUERY).repeat(33));
      const answers = () => connections.map(({ received }) => answersOf(200, received()));
      const end = performance.now() + 10_000 * slowness;
      while (performance.now() < end && answers().some((count) => count < 33)) await sleep(20);
      closeAll(connections);
      const { answer, wrong } = observed(answers(), oneOf(33));
      return { answer: `${answer} × 200`, wrong };
    },
  },
  {
    name: 'bodies of 8 MiB that stop before their end, and some that never begin',
    growth: 400,
    run: async (target) => {
      const connections = await holdBodies(target);
      const other = target.as('other');
      const headers = { 'content-type': 'application/json' };
      const body = QUERY.padEnd(500_000);
      const statuses: (number | string)[] = [];
      // Bodies that have stopped for five seconds give way, one to each that needs its room.
      const end = performance.now() + 15_000 * target.slowness;
      while (statuses.at(-1) !== 200 && performance.now() < end) {
        await sleep(500);
        statuses.push(await statusOf(other.send('POST', '/retrieve/chunks', { body, headers })));
      }
      const { answer, wrong } = observed(statuses, oneOf(200, 503));
      const refused = statuses.at(-1) === 200 ? wrong : 'another caller got no answer';
      const held = observed(statusesOf(connections), oneOf('silent', 408, 503));
      closeAll(connections);
      return { answer: `${held.answer}; to another ${answer}`, wrong: refused ?? held.wrong };
    },
  },
  {
    name: 'more idle connections of strangers than the process has descriptors',
    run: async ({ port, as, slowness }) => {
      const idle: RawConnection[] = [];
      while (idle.length < 800)
        idle.push(...(await Promise.all(Array.from({ length: 20 }, () => visit(port, slowness)))));
      const fresh = await Promise.all(Array.from({ length: 5 }, () => visit(port, slowness)));
      // Its bytes are written to a file.
      const upload = statusOf(as('uploader').ingestFile(Buffer.from('Some text.'), 'some.txt'));
      const others = observed([...statusesOf(fresh), await upload], oneOf(200));
      const { answer, wrong } = observed(statusesOf(idle), oneOf(200));
      closeAll([...idle, ...fresh]);
      return { answer: `${answer}; then ${others.answer}`, wrong: wrong ?? others.wrong };
    },
  },
  {
    name: 'more half-sent uploads of one address than the process has descriptors',
    run: async ({ url, port, as, attacker, slowness }) => {
      const held = await holdUploads({ port, caller: attacker }, 800, '127.0.0.2');
      await untilHeard(held.slice(CONNECTIONS_PER_ADDRESS), 10 * slowness);
      const other = as('other');
      const statuses: (number | string)[] = [];
      for (let n = 0; n < 20; n += 1)
        statuses.push(
          await statusOf(fetch(`${url}/health`)),
          await statusOf(other.searchChunks('canary', { k: 1 })),
          await statusOf(other.ingestFile(Buffer.from('Some text.'), 'some.txt')),
        );
      const others = observed(statuses, oneOf(200));
      // On a slow machine the others take longer than an upload may.
      const uploads = observed(statusesOf(held), oneOf('silent', 408, 503));
      const isAnswered = answersOf(503, held.map(({ received }) => received()).join('')) >= 800 / 2;
      closeAll(held);
      const wrong = isAnswered ? uploads.wrong : 'uploads beyond the share of their address got no answer';
      return { answer: `${uploads.answer}; to others ${others.answer}`, wrong: others.wrong ?? wrong };
    },
  },
];
