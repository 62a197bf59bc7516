import { beforeEach, describe, expect, test } from '@jest/globals';
import { contentMember } from '../../../../../src/shared/documents/content-hashes.js';
import { createRecords } from '../../../../../src/shared/documents/records.js';
import * as transitions from '../../../../../src/shared/documents/transitions.js';
import type { Transition } from '../../../../../src/shared/documents/change.js';
import { keys } from '../../../../../src/shared/redis/keys.js';
import { contentHashesTask } from '../../../../../src/workers/maintenance/sweep/after-updates.js';
import type { SweepParts } from '../../../../../src/workers/maintenance/sweep/sweep-task.js';
import { makeContent, makeDocument, makeOperation } from '../../../../support/documents.js';
import { useTestRedis } from '../../../../support/use-test-redis.js';

const { redis } = useTestRedis({ failFast: false });
const records = createRecords(redis);
const OWNERS = ['ann', 'bob'];
const HOUR = 3_600_000;

beforeEach(async () => {
  await redis.flushAll('SYNC');
});

/** The entries as the records alone say that they are. */
async function recount() {
  const found: Record<string, string[]> = { ann: [], bob: [] };
  for (const key of await redis.keys(`${keys.documentPrefix}*`)) {
    const record = await records.read(key.slice(keys.documentPrefix.length));
    const member = record && contentMember(record);
    if (record && member !== null) found[record.ownerId]?.push(member);
  }
  return Object.fromEntries(OWNERS.map((owner) => [owner, found[owner]?.sort()]));
}

async function entries() {
  const lists = OWNERS.map(async (owner) => [owner, await redis.zRange(keys.contentHashes(owner), 0, -1)]);
  return Object.fromEntries(await Promise.all(lists)) as Record<string, string[]>;
}

const make = (i: number) => {
  const ownerId = OWNERS[i % 2] ?? '';
  return makeDocument({ ownerId, pending: makeContent({ sha256: `digest${String(i % 5)}` }) });
};

/** Takes all steps of one sweep at a time in ms, and tells how many there were. */
async function sweepAt(now: number, parts: Partial<SweepParts> = {}): Promise<number> {
  // @NOTE the task uses these two alone
  const step = contentHashesTask({ redis, records, ...parts } as SweepParts).begin(now);
  for (let steps = 1; ; steps += 1) if (!(await step())) return steps;
}

const forgetEntries = () => redis.del(OWNERS.map((owner) => keys.contentHashes(owner)));

describe('documents can be found by their content', () => {
  test('exactly, whatever becomes of them', async () => {
    const documents = Array.from({ length: 12 }, (_, i) => make(i));
    await Promise.all(documents.map((document) => records.create(document)));
    const fenceOf = ({ id, version, attempt }: (typeof documents)[number]) => ({
      documentId: id,
      version,
      attempt,
    });
    const failure = { code: 'timeout', message: 'too slow', stage: 'parsing' } as const;
    const strangers = { readers: ['eve'], writers: ['eve'], admins: ['eve'] };
    let seed = 11;
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
    const steps: Transition[] = [
      (each) => transitions.startAttempt(each, fenceOf(each)),
      (each) => transitions.publish(each, { ...fenceOf(each), chunkCount: 1, tokenCount: 1 }),
      (each) => transitions.fail(each, { ...fenceOf(each), failure }),
      transitions.requeue,
      transitions.cancel,
      (each) => (random(4) === 0 ? transitions.remove(each) : null),
      (each) => transitions.patch(each, random(2) === 0 ? strangers : { readers: [each.ownerId] }),
      (each) => transitions.retry(each, makeOperation()),
      (each) => {
        const content = makeContent({ sha256: `digest${String(random(5))}` });
        return transitions.replaceContent(each, { content, operation: makeOperation() });
      },
    ];
    const sizes = new Set<number>();
    for (let round = 0; round < 60; round += 1) {
      await Promise.all(
        documents.map(({ id }) => {
          const step = steps[random(steps.length)];
          return step ? records.update(id, step) : Promise.resolve();
        }),
      );
      const found = await entries();
      expect(found).toEqual(await recount());
      sizes.add(Object.values(found).flat().length);
    }
    expect(sizes.size).toBeGreaterThan(3);
  });
});

describe('documents of an earlier version', () => {
  test('are entered page by page, and only those', async () => {
    for (let i = 0; i < 450; i += 1) await records.create(make(i));
    await forgetEntries();
    expect(await sweepAt(0)).toBe(3);
    expect(await entries()).toEqual(await recount());
  });

  test('are entered while processes of that version still run, for an hour', async () => {
    await records.create(make(0));
    await sweepAt(0);
    await forgetEntries();
    await records.create(make(1));
    await forgetEntries();
    await sweepAt(HOUR - 1);
    expect((await entries())['bob']).toHaveLength(1);
    await sweepAt(HOUR);
    await records.create(make(2));
    await forgetEntries();
    await sweepAt(HOUR + 1);
    expect((await entries())['ann']).toEqual([]);
  });

  test('there are none in data that is new', async () => {
    await sweepAt(0);
    expect(await redis.hExists(keys.contentHashesFilled, 'done')).toBe(1);
  });

  test('a document that changes after it was read is left to its commit', async () => {
    const document = make(0);
    await records.create(document);
    await forgetEntries();
    const late: SweepParts['records'] = {
      ...records,
      readSome: async (ids, bytes) => {
        const read = await records.readSome(ids, bytes);
        await records.update(document.id, transitions.cancel);
        return read;
      },
    };
    await sweepAt(0, { records: late });
    expect((await entries())['ann']).toEqual([]);
  });
});
