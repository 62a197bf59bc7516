import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { createRedis, type Redis } from '../../src/shared/redis/client.js';
import { createMemoryWatch } from '../../src/shared/redis/memory.js';
import { createClient, type Client, type WireDocument } from '../support/client.js';
import { describeOnEachIndex, type StartService } from '../support/each-index.js';
import { createRandom, type Random } from '../chaos/random.js';
import { startFakeOpenAI } from '../support/fake-openai.js';
import { LETTERS, randomWords } from '../support/random-words.js';
import type { Service } from '../support/service.js';
import { EMBEDDING } from '../support/shared/environments.js';
import { until } from '../support/until.js';

let service: Service;
let redis: Redis;

afterEach(async () => {
  redis.destroy();
  await service.stop();
});

const MEGABYTE = 2 ** 20;

const HAN = '的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生';

/** The text that takes most room, and much time to be made. */
let heavyText: string | undefined;
const makeHeavyText = () => (heavyText ??= words(400_000, LETTERS, 4));

const prose = () => 'The otters of the river sleep on their backs and hold hands. '.repeat(9_000);
const many = (count: number, length: number) =>
  Array.from({ length: count }, (_, n) => [`key${String(n)}`, 'x'.repeat(length)] as const);

/** Texts of half a megabyte, each of which takes memory in a way of its own. */
const SHAPES: Readonly<Record<string, () => readonly [text: string, more?: Record<string, unknown>]>> = {
  'different words of four letters': () => [words(100_000, LETTERS, 4)],
  'the same words again': () => [words(100_000, LETTERS, 4)],
  'different words of twelve letters': () => [words(40_000, LETTERS, 12)],
  numbers: () => [words(60_000, '0123456789', 7)],
  'one word': () => ['cupboard '.repeat(60_000)],
  'one word a million times': () => ['otter '.repeat(1_000_000)],
  Chinese: () => [words(8_000, HAN, 20)],
  'no blanks': () => [words(50, LETTERS, 10_000)],
  'short lines': () => [words(100_000, LETTERS, 4).replaceAll(' ', '\n')],
  prose: () => [prose()],
  metadata: () => [prose(), { metadata: Object.fromEntries(many(20, 100)) }],
  readers: () => [prose(), { access_control: { readers: many(990, 10).map((each) => each.join('')) } }],
};

/** A text of up to 600,000 characters, of words of any kind, with metadata and readers or without. */
function anyShape(random: Random): readonly [text: string, more: Record<string, unknown>] {
  const letters = random.pick([LETTERS, '0123456789', HAN, `${LETTERS}äöüßéèñ`]);
  const length = random.pick([1, 3, 4, 7, 12, 60, 2_000]);
  const count = Math.ceil(random.whole(40_000, 600_000) / length);
  const different = random.pick([3, 300, count]);
  const known = words(Math.min(count, different), letters, length, random).split(' ');
  const text = Array.from({ length: count }, (_, n) => known[n % known.length]).join(
    random.pick([' ', '\n']),
  );
  const metadata = random.chance(0.3) ? Object.fromEntries(many(random.whole(1, 20), 100)) : {};
  const readers = random.chance(0.3) ? many(random.whole(1, 900), 10).map((each) => each.join('')) : [];
  return [text, { metadata, access_control: { readers } }];
}

const words = (
  count: number,
  letters: string,
  length: number,
  random = createRandom(`${String(count)} words`),
): string => randomWords(random, { count, length, letters });

async function open(start: StartService, env: Record<string, string> = {}): Promise<Client> {
  service = await start({ env });
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

/** The reservation of the last document, which is forgotten when another one reserves. */
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
      // The memory that Redis keeps for connections that were busy goes within a second.
      await sleep(1_000);
      figures[name] = ((await used()) - before) / (await reservedFor(id));
    }
    console.info('memory that was taken, by what was reserved', figures);
    for (const share of Object.values(figures)) expect(share).toBeLessThan(1.1);
  });

  test('documents of any shape at once never pass the limit of a Redis near it, and all are ingested in the end', async () => {
    const client = await open(start);
    await client.ingestText('The first one makes what all documents share.');
    await leaveRoom(25);
    const { share, max } = await createMemoryWatch(redis, 0.85).state();
    const random = createRandom('documents near the limit');
    let most = 0;
    const ids: string[] = [];
    const look = async () => {
      most = Math.max(most, await used());
    };
    const callers = ['ann', 'bob', 'eve'].map((name) => createClient(service.url, name));
    const statuses = async () =>
      Promise.all(ids.map((id, i) => statusOf(callers[i % callers.length] ?? client, id)));
    for (let number = 0; number < 21; number += 1) {
      const caller = callers[number % callers.length] ?? client;
      const { status, body } = await ingestLater(caller, ...anyShape(random));
      // Once Redis is nearly full, no more come.
      if (status === 503) break;
      ids.push(body.external_id);
      await look();
    }
    const isSettled = async () => {
      await look();
      const waiting = await redis.hKeys('quire:waiting-for-room');
      const states = await statuses();
      return states.every((status, i) => status === 'completed' || waiting.includes(ids[i] ?? ''));
    };
    await until(isSettled, 150);
    const completed = (await statuses()).filter((status) => status === 'completed').length;
    const figures = { most: most / MEGABYTE, share: share / MEGABYTE, max: max / MEGABYTE };
    console.info('near the limit', { ...figures, completed, of: ids.length });
    expect(completed).toBeGreaterThan(0);
    expect(completed).toBeLessThan(ids.length);
    // Workers know the memory as it was a quarter of a second ago, so that what was written since comes on top.
    expect(most).toBeLessThan(share + 3 * MEGABYTE);
    expect(most).toBeLessThan(max);
    await leaveRoom(400);
    await until(async () => (await statuses()).every((status) => status === 'completed'), 150);
  });

  test('vectors count at their true length, of a model that nobody has told the length of and that was never used', async () => {
    const provider = await startFakeOpenAI({ dimensions: 4_096 });
    try {
      const client = await open(start, { ...EMBEDDING.env, [EMBEDDING.providedBy]: provider.url });
      // A text that is larger than all that Redis may hold would fail, and not wait.
      await take('before', 100);
      await leaveRoom(4);
      const { external_id: id } = (await ingestLater(client, prose())).body;
      await until(async () => (await redis.hExists('quire:waiting-for-room', id)) === 1);
      await leaveRoom(100);
      const before = await used();
      await until(() => isCompleted(client, id));
      await sleep(1_000);
      expect(((await used()) - before) / (await reservedFor(id))).toBeLessThan(1.1);
    } finally {
      await provider.stop();
    }
  });

  test('a text for which there is no room keeps nobody else out, and is ingested once there is', async () => {
    const client = await open(start);
    await client.ingestText('The first one makes what all documents share.');
    await take('before', 200);
    await leaveRoom(30);
    const { external_id: heavy } = (await ingestLater(client, makeHeavyText())).body;
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
    const { external_id: heavy } = (await ingestLater(client, makeHeavyText())).body;
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
    const [found] = (await client.searchChunks(makeHeavyText().slice(0, 100))).body;
    expect(found?.document_id).toBe(heavy);
  });
});
