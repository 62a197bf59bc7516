import { beforeEach, describe, expect, test } from '@jest/globals';
import { generationId, type DocumentRecord } from '../../../../src/shared/document.js';
import { createRecords } from '../../../../src/shared/documents/records.js';
import { cancel, patch, remove, startAttempt } from '../../../../src/shared/documents/transitions.js';
import { IngestError, UnavailableError } from '../../../../src/shared/errors.js';
import { keys } from '../../../../src/shared/redis/keys.js';
import { createTurns, type Turns } from '../../../../src/shared/fair-scheduling/turns.js';
import { createUsage } from '../../../../src/shared/usage/usage.js';
import { isAtRest } from '../../../support/recount-statistics.js';
import { birds, idsOf, LIMITS, textGroups } from '../../../support/text-groups.js';
import { until } from '../../../support/until.js';
import { useJobs } from '../../../support/use-jobs.js';
import { useTestRedis } from '../../../support/use-test-redis.js';

const { url, redis } = useTestRedis({ failFast: false });
const { store, run, alone, expectPublished } = textGroups({ redis, jobs: useJobs({ url, redis }) });
const records = createRecords(redis);

beforeEach(async () => {
  await redis.flushAll();
});

test('a group of texts is published as each of them would be alone', async () => {
  const texts = birds(20);
  const documents = await store(texts);
  const heard: string[] = [];
  const subscriber = redis.duplicate();
  await subscriber.connect();
  await subscriber.subscribe(keys.changed, (message) => heard.push(...message.split(',')));
  const sequence = Number(await redis.get(keys.sequence));
  expect(await run(idsOf(documents))).toBe('published');
  await expectPublished(documents, texts);
  expect(await isAtRest(redis)).toBe(true);
  expect(await alone()).toEqual([]);
  // The change log has each of them, with numbers that follow those of before.
  const changes = await redis.zRangeWithScores(keys.changes, 0, -1);
  expect(changes.map(({ value }) => value)).toEqual(idsOf(documents));
  expect(changes.map(({ score }) => score - sequence)).toEqual(texts.map((_, n) => n + 1));
  expect(Number(await redis.get(keys.sequence))).toBe(sequence + texts.length);
  // Nobody counts as ingesting any more, and each ingest has its usage event.
  expect(await redis.hLen(keys.ingests)).toBe(0);
  expect(await redis.zCard(keys.ingestsByCaller)).toBe(0);
  const events = await createUsage(redis).recent('owner', { limit: 100 });
  expect(events.map(({ metadata }) => metadata['document_id']).sort()).toEqual(idsOf(documents).sort());
  expect(await redis.hGet(keys.document(documents[0]?.id ?? ''), 'group')).toBeNull();
  expect(heard.sort()).toEqual(idsOf(documents).sort());
  subscriber.destroy();
});

test('its generations are those that the commit of a single document writes', async () => {
  const [together] = await store(['one and the same heron', 'another']);
  if (!together) throw new Error('nothing stored');
  await run([together.id]);
  const generation = await redis.hGetAll(keys.generation(generationId(together)));
  expect(generation).toMatchObject({
    document: together.id,
    chunks: '1',
    embedded: '1',
    'embedded:0': '1',
    'counted:0': 'owner',
  });
});

test.each([
  ['chunks', { ...LIMITS, chunks: 3 }],
  ['bytes', { ...LIMITS, bytes: 1 }],
  ['terms', { ...LIMITS, terms: 5 }],
])('a group of more %s than a step may have is published in several', async (_, limits) => {
  const texts = birds(10);
  const documents = await store(texts);
  expect(await run(idsOf(documents), { limits })).toBe('published');
  await expectPublished(documents, texts);
});

describe('a document that is', () => {
  const documentsAfter = async (change: (record: DocumentRecord) => Promise<unknown>) => {
    const texts = birds(6);
    const documents = await store(texts);
    const third = documents[2];
    if (!third) throw new Error('too few');
    let isDone = false;
    const meanwhile = async () => {
      if (isDone) return;
      isDone = true;
      await change(third);
    };
    expect(await run(idsOf(documents), { meanwhile })).toBe('published');
    await expectPublished([...documents.slice(0, 2), ...documents.slice(3)], texts.toSpliced(2, 1));
    return third;
  };

  test('deleted meanwhile leaves nothing, and the others are published', async () => {
    const gone = await documentsAfter(({ id }) => records.update(id, remove));
    expect(await records.read(gone.id)).toBeNull();
    expect(await redis.exists(keys.chunk(generationId(gone), 0))).toBe(0);
    expect(await alone()).toEqual([]);
    expect(await redis.zRange(keys.unfinished, 0, -1)).toEqual([]);
  });

  test('cancelled meanwhile stays cancelled', async () => {
    const { id } = await documentsAfter((record) => records.update(record.id, cancel));
    expect(await records.read(id)).toMatchObject({ status: 'cancelled', published: null });
    expect(await alone()).toEqual([]);
  });

  test('patched meanwhile is ingested alone, with its new tags', async () => {
    const { id } = await documentsAfter((record) =>
      records.update(record.id, (each) => patch(each, { metadata: { colour: 'red' } })),
    );
    expect(await records.read(id)).toMatchObject({ status: 'queued', metadata: { colour: 'red' } });
    expect(await alone()).toEqual([id]);
  });

  test('ingested by another job already is left to that one', async () => {
    const fence = { version: 1, attempt: 1 };
    const { id } = await documentsAfter((record) =>
      records.update(record.id, (each) => startAttempt(each, { documentId: record.id, ...fence })),
    );
    expect(await records.read(id)).toMatchObject({ status: 'processing' });
    expect(await alone()).toEqual([]);
  });

  test('without its source is ingested alone, which tells what is wrong', async () => {
    const documents = await store(birds(3));
    const [first] = documents;
    await redis.hDel(keys.document(first?.id ?? ''), first?.pending?.storageKey ?? '');
    await run(idsOf(documents));
    await expectPublished(documents.slice(1), birds(3).slice(1));
    expect(await alone()).toEqual([first?.id]);
  });
});

test.each([
  ['is refused', () => new IngestError('empty_document', 'The document is empty.')],
  ['breaks the program', () => new TypeError('undefined is not a function')],
])('a text that %s gets a job of its own, and keeps nobody from being ingested', async (_, error) => {
  const texts = ['first', 'poison', 'third'];
  const documents = await store(texts);
  const meanwhile = (text: string) => {
    if (text === 'poison') throw error();
  };
  expect(await run(idsOf(documents), { meanwhile })).toBe('published');
  const [first, poisonous, third] = documents;
  if (!first || !poisonous || !third) throw new Error('too few');
  await expectPublished([first, third], ['first', 'third']);
  expect(await alone()).toEqual([poisonous.id]);
  expect(await records.read(poisonous.id)).toMatchObject({ status: 'queued' });
});

test('while a provider is away, the whole group waits, and nothing is written', async () => {
  const documents = await store(birds(3));
  const meanwhile = () => {
    throw new UnavailableError('embedding provider');
  };
  await expect(run(idsOf(documents), { meanwhile })).rejects.toThrow(UnavailableError);
  expect(await alone()).toEqual([]);
  expect(await records.read(documents[0]?.id ?? '')).toMatchObject({ status: 'queued' });
});

test('groups that wait for a provider let others go on, and publish one after the other', async () => {
  const groups = [];
  for (let n = 0; n < 4; n += 1) groups.push(await store(birds(2)));
  const turns = createTurns(1);
  let asked = 0;
  const meanwhile = async () => {
    asked += 1;
    // With a turn that lasts while the provider is asked, the last of them would never ask.
    await until(() => asked === 8);
    await until(() => turns.figures().running === 0);
  };
  const ends = await Promise.all(groups.map((each) => run(idsOf(each), { meanwhile, turns })));
  expect(ends).toEqual(['published', 'published', 'published', 'published']);
  for (const each of groups) await expectPublished(each, birds(2));
});

test('its work takes the turns of its caller, one for what comes before its vectors and one for what comes after', async () => {
  const documents = await store(birds(3));
  const callers: (string | undefined)[] = [];
  const turns = createTurns(1);
  const noted: Pick<Turns, 'run'> = {
    run: (task, request) => {
      callers.push(request?.by);
      return turns.run(task, request);
    },
  };
  expect(await run(idsOf(documents), { turns: noted })).toBe('published');
  expect(callers).toEqual(['owner', 'owner']);
});

test('without memory in Redis, the whole group waits, and nothing is written', async () => {
  const texts = birds(3);
  const documents = await store(texts);
  const before = await redis.keys('*');
  const requireMemory = () => Promise.reject(new UnavailableError('room in Redis'));
  await expect(run(idsOf(documents), { requireMemory })).rejects.toThrow(UnavailableError);
  expect((await redis.keys('*')).sort()).toEqual(before.sort());
  expect(await run(idsOf(documents))).toBe('published');
  await expectPublished(documents, texts);
});

test('a text of more different words than Redis counts in a step is ingested alone', async () => {
  const words = Array.from({ length: 2_300 }, (_, n) => n.toString(36)).join(' ');
  const [many, few] = await store([words, 'a few words']);
  if (!many || !few) throw new Error('nothing stored');
  // In chunks of the usual size, a short text of so many words would be too many chunks already.
  expect(await run([many.id, few.id], { chunkSize: 2_048 })).toBe('published');
  expect(await alone()).toEqual([many.id]);
  await expectPublished([few], ['a few words']);
});

test('a group that has failed, or of which a worker has died, is split, without those that are done', async () => {
  const documents = await store(birds(4));
  await run(idsOf(documents).slice(0, 1));
  await records.update(documents[1]?.id ?? '', remove);
  expect(await run(idsOf(documents), { isFirst: false })).toBe('done');
  expect((await alone()).sort()).toEqual(idsOf(documents).slice(2).sort());
});
