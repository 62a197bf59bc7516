import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { linesOf, ndjson, outcomesOf, type WireOutcome } from '../support/batches.js';
import { createClient, type Client } from '../support/client.js';
import { heldMemory, MEMORY_METERED } from '../support/held-memory.js';
import { openRaw, type RawConnection } from '../support/raw-http.js';
import { startService, type Service } from '../support/service.js';
import { longestTurn, longestTurnOf, METERED } from '../support/turns.js';
import { until } from '../support/until.js';

const MEGABYTE = 1024 ** 2;
let service: Service;
const client = (name: string): Client => createClient(service.url, name);

beforeAll(async () => {
  service = await startService({ execArgv: [...METERED, ...MEMORY_METERED] });
}, 120_000);
afterAll(async () => {
  await service.stop();
});

const headers = (as: Client, prefer: string) => ({
  authorization: as.authorization,
  'content-type': 'application/x-ndjson',
  prefer,
});
const headOf = (as: Client, prefer: string) =>
  `${[
    'POST /ingest/batch HTTP/1.1',
    'Host: 127.0.0.1',
    ...Object.entries(headers(as, prefer)).map(([name, value]) => `${name}: ${value}`),
    'Transfer-Encoding: chunked',
  ].join('\r\n')}\r\n\r\n`;
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const texts = (count: number, word: string) =>
  Array.from({ length: count }, (_, i) => ({ content: `${word} ${String(i)}` }));

/** Outcomes that have arrived whole on a raw connection. */
const receivedBy = ({ received }: RawConnection): WireOutcome[] =>
  received()
    .split(/\r?\n/)
    .filter((line) => line.startsWith('{"index"') && line.endsWith('}'))
    .flatMap(linesOf);

/** Sends lines while it reads, and counts their outcomes. Most lines are wrong, so that workers need not do the same work. */
async function sendMany(as: Client, lines: number): Promise<Map<string, number>> {
  const wrong = ndjson([{ content: 'x'.repeat(1_900), metadata: 5 }]);
  const good = ndjson([{ content: `A good line. ${'x'.repeat(1_900)}` }]);
  let left = lines;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const block = Array.from({ length: Math.min(left, 100) }, (_, i) => (i % 50 === 0 ? good : wrong));
      left -= block.length;
      controller.enqueue(Buffer.from(block.join('')));
      if (left === 0) controller.close();
    },
  });
  const init = { method: 'POST', body, headers: headers(as, 'respond-async'), duplex: 'half' as const };
  const response = await fetch(`${service.url}/ingest/batch`, init);
  const counts = new Map<string, number>();
  let rest = '';
  let next = 0;
  if (!response.body) throw new Error('the answer has no body');
  for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
    const ready = (rest + part).split('\n');
    rest = ready.pop() ?? '';
    for (const { index, status, error } of linesOf(ready.join('\n'))) {
      expect(index).toBe(next);
      next += 1;
      const kind = status ?? error?.type ?? '';
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
  }
  return counts;
}

test('a stream of any length holds the same memory', async () => {
  const alice = client('alice');
  // Code is compiled and tables are loaded first.
  await sendMany(alice, 2_000);
  const before = await heldMemory(service.api);
  const sending = sendMany(alice, 60_000);
  const held: number[] = [];
  for (let isOver = false; !isOver;) {
    isOver = await Promise.race([sending.then(() => true), sleep(300, false)]);
    held.push(await heldMemory(service.api));
  }
  expect(await sending).toEqual(
    new Map([
      ['queued', 1_200],
      ['type_error.dict', 58_800],
    ]),
  );
  expect(held.length).toBeGreaterThan(5);
  // The stream itself is 120 MB long. Node 24 collects garbage later than the others.
  const [major] = process.versions.node.split('.').map(Number);
  expect((Math.max(...held) - before) / MEGABYTE).toBeLessThan(major === 24 ? 20 : 10);
}, 300_000);

test('others have their turns beside a stream', async () => {
  const [alice, bob] = [client('alice'), client('bob')];
  await longestTurn(service.api);
  const sending = sendMany(alice, 20_000);
  for (let isOver = false; !isOver;) {
    expect((await bob.get('/documents')).status).toBe(200);
    isOver = await Promise.race([sending.then(() => true), sleep(5, false)]);
  }
  expect(await longestTurn(service.api)).toBeLessThan(100);
}, 300_000);

test('a thousand texts in one body leave time to others', async () => {
  const carol = client('carl');
  const readers = Array.from({ length: 10 }, (_, i) => `reader-${String(i)}`);
  const documents = texts(1_000, 'many').map((each) => ({ ...each, access_control: { readers } }));
  const during = async () => {
    const answer = await carol.post('/ingest/batch', { documents }, { prefer: 'respond-async' });
    expect(answer.status).toBe(202);
  };
  expect(await longestTurnOf(() => longestTurn(service.api), { during, enough: 20 })).toBeLessThan(50);
}, 200_000);

test('neighbours who send nothing more, or read nothing, keep nobody from their batches', async () => {
  const port = Number(new URL(service.url).port);
  const [eve, bob] = [client('eve'), client('bob')];
  const silent = await Promise.all(Array.from({ length: 20 }, () => openRaw(port)));
  for (const { socket } of silent)
    socket.write(headOf(eve, 'wait=120') + chunk(`{"content": "${'x'.repeat(500_000)}`));
  const deaf = await Promise.all(Array.from({ length: 5 }, () => openRaw(port)));
  for (const { socket } of deaf) {
    socket.pause();
    socket.write(headOf(eve, 'respond-async'));
    for (let i = 0; i < 200; i += 1) socket.write(chunk('{"content": 5}\n'.repeat(500)));
  }
  const answer = await bob.post('/ingest/batch', { documents: texts(20, 'calm') }, { prefer: 'wait=120' });
  expect(outcomesOf(answer.body).map(({ status }) => status)).toEqual(
    Array.from({ length: 20 }, () => 'completed'),
  );
  expect(answer.status).toBe(200);
  for (const { socket } of [...silent, ...deaf]) socket.destroy();
}, 200_000);

test('a batch that waits outlives its worker', async () => {
  const carol = client('carol');
  const answering = carol.post('/ingest/batch', { documents: texts(300, 'lasting') }, { prefer: 'wait=120' });
  await until(async () => (await carol.get<unknown[]>('/documents?limit=1')).body.length > 0);
  await service.workers[0]?.kill('SIGKILL');
  service.startWorker();
  const answer = await answering;
  expect(answer.status).toBe(200);
  expect(outcomesOf(answer.body).filter(({ status }) => status === 'completed')).toHaveLength(300);
  expect((await carol.get('/usage/stats')).body).toMatchObject({ ingest_text: 300 });
}, 200_000);

test('what was acknowledged before the API died is completed, and nothing is there by half', async () => {
  const dora = client('dora');
  const raw = await openRaw(Number(new URL(service.url).port));
  raw.socket.write(headOf(dora, 'respond-async'));
  for (let i = 0; i < 400; i += 1) raw.socket.write(chunk(ndjson(texts(10, `group ${String(i)}`))));
  await raw.until(/"index":200,/);
  await service.api.kill('SIGKILL');
  await raw.closed();
  const acknowledged = receivedBy(raw).flatMap(({ document_id: id }) => id ?? []);
  expect(acknowledged.length).toBeGreaterThan(200);
  await service.startApi();
  await service.untilReady();
  const listed = async () => {
    const all: { external_id: string; system_metadata: { status: string } }[] = [];
    for (let skip = 0; ; skip += 100) {
      const page = await dora.get<typeof all>(`/documents?skip=${String(skip)}`);
      all.push(...page.body);
      if (page.body.length < 100) return all;
    }
  };
  await until(async () =>
    (await listed()).every(({ system_metadata: { status } }) => status === 'completed'),
  );
  const ids = new Set((await listed()).map(({ external_id: id }) => id));
  expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
  expect((await dora.get('/usage/stats')).body).toEqual({ ingest_text: ids.size });
}, 200_000);
