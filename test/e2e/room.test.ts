import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { createRedis, type Redis } from '../../src/shared/redis/client.js';
import { createMemoryWatch } from '../../src/shared/redis/memory.js';
import { createClient, type Client, type WireDocument } from '../support/client.js';
import { describeOnEachIndex } from '../support/each-index.js';
import { createRandom } from '../chaos/random.js';
import type { Service } from '../support/service.js';
import { until } from '../support/until.js';

let service: Service;
let redis: Redis;

afterEach(async () => {
  redis.destroy();
  await service.stop();
});

const MEGABYTE = 2 ** 20;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

const HAN = '的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生';

const prose = () => 'The otters of the river sleep on their backs and hold hands. '.repeat(9_000);
const many = (count: number, length: number) =>
  Array.from({ length: count }, (_, n) => [`key${String(n)}`, 'x'.repeat(length)]);

/** Texts of half a megabyte, each of which takes memory in a way of its own. */
const SHAPES: Readonly<Record<string, () => readonly [text: string, more?: Record<string, unknown>]>> = {
  'different words of four letters': () => [words(100_000, LETTERS, 4)],
  'the same words again': () => [words(100_000, LETTERS, 4)],
  'different words of twelve letters': () => [words(40_000, LETTERS, 12)],
  numbers: () => [words(60_000, '0123456789', 7)],
  'one word': () => ['cupboard '.repeat(60_000)],
  Chinese: () => [words(8_000, HAN, 20)],
  'no blanks': () => [words(50, LETTERS, 10_000)],
  'short lines': () => [words(100_000, LETTERS, 4).replaceAll(' ', '\n')],
  prose: () => [prose()],
  metadata: () => [prose(), { metadata: Object.fromEntries(many(20, 100)) }],
  readers: () => [prose(), { readers: many(1_000, 10).map(([name, end]) => `${name ?? ''}${end ?? ''}`) }],
};

function words(count: number, letters: string, length: number): string {
  const random = createRandom(`${String(count)} words`);
  const word = () => Array.from({ length }, () => random.pickAny([...letters])).join('');
  return Array.from({ length: count }, word).join(' ');
}

async function open(start: () => Promise<Service>): Promise<Client> {
  service = await start();
  redis = createRedis(service.redis.url, { failFast: false, onError: () => undefined });
  await redis.connect();
  return createClient(service.url);
}

const isCompleted = async (client: Client, id: string) => (await statusOf(client, id)) === 'completed';

async function statusOf(client: Client, id: string): Promise<string> {
  return (await client.get<WireDocument>(`/documents/${id}`)).body.system_metadata.status;
}

const ingestLater = (client: Client, text: string, more: Record<string, unknown> = {}) =>
  client.ingestText(text, more, { prefer: 'respond-async' });

/** What was reserved for the last document, which is forgotten when another one reserves. */
const reservedFor = async (id: string) =>
  Number((await redis.hGet('quire:reserved-room', id))?.split(':')[1]);

/** Something else that takes so many megabytes, in strings that fill what the allocator takes for them. */
async function take(name: string, megabytes: number): Promise<void> {
  for (let number = 0; number < megabytes; number += 1)
    await redis.setRange(`filler:${name}:${String(number)}`, MEGABYTE - 100, 'x');
}

async function release(name: string): Promise<void> {
  await redis.del(await redis.keys(`filler:${name}:*`));
}

/** Gives Redis as much memory as it uses now and `megabytes` more that documents may take. */
async function leaveRoom(megabytes: number): Promise<void> {
  const share = 0.85;
  await redis.configSet('maxmemory', String(Math.ceil(((await used()) + megabytes * MEGABYTE) / share)));
}

const used = async () => (await createMemoryWatch(redis, 1).state()).used;

describeOnEachIndex((start) => {
  test('a document takes no more memory than was reserved for it, whatever it holds', async () => {
    const client = await open(start);
    await redis.configSet('maxmemory', String(4_096 * MEGABYTE));
    await client.ingestText('The first one makes what all documents share.');
    const figures: Record<string, number> = {};
    for (const [name, shape] of Object.entries(SHAPES)) {
      const before = await used();
      const { external_id: id } = (await ingestLater(client, ...shape())).body;
      await until(() => isCompleted(client, id));
      // What Redis keeps for connections that were busy goes within a second.
      await sleep(1_000);
      figures[name] = ((await used()) - before) / (await reservedFor(id));
    }
    console.info('memory that was taken, by what was reserved', figures);
    for (const share of Object.values(figures)) expect(share).toBeLessThan(1.1);
  });

  test('a text for which there is no room keeps nobody else out, and is ingested once there is', async () => {
    const client = await open(start);
    await client.ingestText('The first one makes what all documents share.');
    await take('before', 200);
    await leaveRoom(30);
    const { external_id: heavy } = (await ingestLater(client, words(400_000, LETTERS, 4))).body;
    await until(async () => (await redis.hExists('quire:waiting-for-room', heavy)) === 1);
    const another = createClient(service.url, 'another');
    for (let number = 0; number < 12; number += 1) {
      const { status, body } = await another.ingestText(`Text ${String(number)} of somebody else.`);
      expect([status, body.system_metadata.status]).toEqual([200, 'completed']);
    }
    expect(['queued', 'processing']).toContain(await statusOf(client, heavy));
    await leaveRoom(400);
    await until(() => isCompleted(client, heavy));
  });

  test('a text that was begun gives back what it has when memory runs short, and others go on', async () => {
    const client = await open(start);
    await client.ingestText('The first one makes what all documents share.');
    await leaveRoom(400);
    const { external_id: heavy } = (await ingestLater(client, words(400_000, LETTERS, 4))).body;
    await until(async () => (await redis.hExists('quire:reserved-room', heavy)) === 1);
    const { used: begun, share } = await createMemoryWatch(redis, 0.85).state();
    // Somebody else fills Redis with all that is left, but for what the text has written since.
    const left = Math.ceil((share - begun) / MEGABYTE);
    await take('most', left - 4);
    await take('the rest', 4);
    const another = createClient(service.url, 'another');
    await until(async () => (await redis.hExists('quire:waiting-for-room', heavy)) === 1);
    await release('the rest');
    await until(async () => (await another.ingestText('A text of somebody else.')).status === 200);
    expect(['queued', 'processing']).toContain(await statusOf(client, heavy));
    await release('most');
    await until(() => isCompleted(client, heavy));
    const [found] = (await client.searchChunks(words(400_000, LETTERS, 4).slice(0, 100))).body;
    expect(found?.document_id).toBe(heavy);
  });
});
