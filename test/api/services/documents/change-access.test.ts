import { beforeEach, expect, test } from '@jest/globals';
import {
  changeAccess,
  comeBackWithAttachments,
  leaveWithAttachments,
} from '../../../../src/api/services/documents/change-access.js';
import { createCommitChange } from '../../../../src/api/services/documents/commit-change.js';
import { removeWithAttachments } from '../../../../src/shared/documents/attachments/remove-with-attachments.js';
import { accessOfAttachments, canRead } from '../../../../src/shared/access/access.js';
import type { DocumentRecord } from '../../../../src/shared/document.js';
import { createRecords, type Records } from '../../../../src/shared/documents/records.js';
import type { Patch } from '../../../../src/shared/documents/transitions.js';
import { makeDocument } from '../../../support/documents.js';
import { useTestRedis } from '../../../support/use-test-redis.js';

const { redis } = useTestRedis();
const records = createRecords(redis);
const id = (number: number) => `00000000-0000-4000-8000-00000000000${String(number)}`;
const [MAIL, FIRST, SECOND, INNER, LATE] = [id(1), id(2), id(3), id(4), id(5)] as const;
const LISTS = { readers: ['owner', 'bob'], writers: ['owner'], admins: ['owner'] };
const attachmentOf = (documentId: string, depth: number) => ({ documentId, depth });

/** A mail with two attachments, of which the first carries another one. */
beforeEach(async () => {
  await redis.flushAll();
  await records.create(makeDocument({ ...LISTS, id: MAIL, attachments: [FIRST, SECOND] }));
  await records.create(
    makeDocument({ ...LISTS, id: FIRST, attachments: [INNER], attachmentOf: attachmentOf(MAIL, 1) }),
  );
  await records.create(makeDocument({ ...LISTS, id: SECOND, attachmentOf: attachmentOf(MAIL, 1) }));
  await records.create(makeDocument({ ...LISTS, id: INNER, attachmentOf: attachmentOf(FIRST, 2) }));
});

const jobs = {
  ingest: () => Promise.resolve(),
  ingestAll: () => Promise.resolve(),
  forgetIngest: () => Promise.resolve(),
  attachments: () => Promise.resolve(),
  retag: () => Promise.resolve(),
  clean: () => Promise.resolve(),
};

/** Counts down before and after each write; the process ends at 0. */
function dyingAfter(steps: number): Records {
  let left = steps;
  const step = () => {
    left -= 1;
    if (left < 0) throw new Error('killed');
  };
  return {
    ...records,
    update: async (...change) => {
      step();
      const updated = await records.update(...change);
      step();
      return updated;
    },
  };
}

let retagged: string[] = [];
const patchAccess = (fields: Patch, { callerId = 'owner', documentId = MAIL, by = records } = {}) => {
  retagged = [];
  return changeAccess(
    {
      change: createCommitChange(by, jobs),
      retag: (record) => Promise.resolve(void retagged.push(record.id)),
    },
    { documentId, principal: { id: callerId }, right: 'change access' },
    () => fields,
  );
};

async function read(documentId: string): Promise<DocumentRecord> {
  const record = await records.read(documentId);
  if (!record) throw new Error('not there');
  return record;
}
const isOpenTo = async (caller: string, documentId: string) =>
  canRead({ id: caller }, await read(documentId));

test('attachments and theirs get the lists that change, and keep the others', async () => {
  await records.update(INNER, (now) => ({ record: { ...now, writers: ['owner', 'carl'] } }));
  await patchAccess({ readers: ['owner', 'eve'], metadata: { kind: 'mail' } });
  for (const each of [MAIL, FIRST, SECOND, INNER])
    expect(await read(each)).toMatchObject({ readers: ['owner', 'eve'], admins: ['owner'] });
  expect((await read(INNER)).writers).toEqual(['owner', 'carl']);
  expect((await read(INNER)).metadata).toEqual({});
  expect(await read(MAIL)).toMatchObject({ metadata: { kind: 'mail' }, accessChange: null });
  expect(retagged).toEqual([INNER, FIRST, SECOND]);
});

test('a revocation that ends at any step leaves no attachment open whose mail is closed, and can be repeated', async () => {
  const tree = await Promise.all([MAIL, FIRST, SECOND, INNER].map(read));
  let kills = 0;
  for (let steps = 0; ; steps += 1) {
    await redis.flushAll();
    for (const record of tree) await records.create({ ...record, revision: 1 });
    const wasKilled = await patchAccess({ readers: ['owner'] }, { by: dyingAfter(steps) }).then(
      () => false,
      () => true,
    );
    for (const each of [FIRST, SECOND])
      if (await isOpenTo('bob', each)) expect(await isOpenTo('bob', MAIL)).toBe(true);
    if (await isOpenTo('bob', INNER)) expect(await isOpenTo('bob', FIRST)).toBe(true);
    await patchAccess({ readers: ['owner'] });
    for (const each of [MAIL, FIRST, SECOND, INNER]) expect(await isOpenTo('bob', each)).toBe(false);
    if (!wasKilled) break;
    kills += 1;
  }
  expect(kills).toBeGreaterThan(15);
});

test('a caller who takes himself off the admins can repeat it after it was interrupted', async () => {
  const lists = { readers: ['owner'], admins: ['dan'] };
  for (let steps = 0; steps < 20; steps += 1)
    await patchAccess(lists, { by: dyingAfter(steps) }).catch(() => undefined);
  await patchAccess({ readers: ['owner'], admins: ['dan'] }).catch(() => undefined);
  for (const each of [MAIL, FIRST, SECOND, INNER]) expect(await read(each)).toMatchObject(lists);
});

test('who leaves a mail leaves its attachments, whoever is named later, and comes back to all of them', async () => {
  const tree = await Promise.all([MAIL, FIRST, SECOND, INNER].map(read));
  const partsBy = (by: Records) => ({ change: createCommitChange(by, jobs), retag: () => Promise.resolve() });
  const asked = { documentId: MAIL, principal: { id: 'bob' }, right: null };
  let kills = 0;
  for (let steps = 0; ; steps += 1) {
    await redis.flushAll();
    for (const record of tree) await records.create({ ...record, revision: 1 });
    const wasKilled = await leaveWithAttachments(partsBy(dyingAfter(steps)), asked).then(
      () => false,
      () => true,
    );
    for (const each of [FIRST, SECOND])
      if (await isOpenTo('bob', each)) expect(await isOpenTo('bob', MAIL)).toBe(true);
    await leaveWithAttachments(partsBy(records), asked);
    for (const each of [MAIL, FIRST, SECOND, INNER]) expect(await isOpenTo('bob', each)).toBe(false);
    if (!wasKilled) break;
    kills += 1;
  }
  expect(kills).toBeGreaterThan(15);
  const late = makeDocument({ id: LATE, attachmentOf: attachmentOf(MAIL, 1) });
  await records.create({ ...late, ...accessOfAttachments(await read(MAIL)) });
  await records.update(MAIL, (now) => ({ record: { ...now, attachments: [FIRST, SECOND, LATE] } }));
  await patchAccess({ readers: ['owner', 'bob', 'eve'] });
  for (const each of [MAIL, FIRST, SECOND, INNER, LATE])
    expect(await read(each)).toMatchObject({ readers: ['owner', 'eve'], accessChange: null });
  await comeBackWithAttachments(partsBy(records), asked);
  for (const each of [MAIL, FIRST, SECOND, INNER, LATE]) expect(await isOpenTo('bob', each)).toBe(true);
});

test('an attachment that others administer is closed to whom the mail is closed, and opened to nobody', async () => {
  await records.update(FIRST, (now) => ({
    record: { ...now, readers: ['bob', 'fay'], admins: ['dan'] },
  }));
  await patchAccess({ readers: ['owner', 'eve'] });
  expect(await read(FIRST)).toMatchObject({ readers: ['fay'], admins: ['dan'] });
  expect((await read(INNER)).readers).toEqual(['owner', 'eve']);
});

test('a caller who may not change the access of the mail changes nothing', async () => {
  await expect(patchAccess({ readers: ['owner'] }, { callerId: 'bob' })).rejects.toThrow('permissions');
  for (const each of [MAIL, FIRST]) expect(await isOpenTo('bob', each)).toBe(true);
});

test('documents that are no attachments of it, or are gone, are left alone', async () => {
  await records.update(SECOND, (now) => ({ record: { ...now, attachmentOf: attachmentOf(INNER, 1) } }));
  await records.update(MAIL, (now) => ({ record: { ...now, attachments: [LATE, FIRST, SECOND] } }));
  await patchAccess({ readers: ['owner'] });
  expect(await isOpenTo('bob', SECOND)).toBe(true);
  expect(await isOpenTo('bob', FIRST)).toBe(false);
});

test('two changes at once end with the same access everywhere', async () => {
  const groups = [['owner', 'ann'], ['owner', 'eve'], ['owner']];
  await Promise.all(groups.map((readers) => patchAccess({ readers })));
  const { readers } = await read(MAIL);
  expect(groups).toContainEqual(readers);
  for (const each of [FIRST, SECOND, INNER]) expect((await read(each)).readers).toEqual(readers);
});

test.each(['named before', 'named meanwhile'])(
  'an attachment, %s, that is made while a change is on its way gets its access',
  async (named) => {
    const attachments = [FIRST, SECOND, LATE];
    const name = () => records.update(MAIL, (now) => ({ record: { ...now, attachments } }));
    if (named === 'named before') await name();
    let changes = 0;
    const making: Records = {
      ...records,
      update: async (documentId, ...change) => {
        if (documentId === MAIL) changes += 1;
        // Between the attachments and the mail itself.
        if (documentId === MAIL && changes === 2) {
          if (named === 'named meanwhile') await name();
          const mail = await read(MAIL);
          const late = makeDocument({ id: LATE, attachmentOf: attachmentOf(MAIL, 1) });
          await records.create({ ...late, ...accessOfAttachments(mail) });
        }
        return records.update(documentId, ...change);
      },
    };
    await patchAccess({ readers: ['owner', 'bob', 'eve'] }, { by: making });
    for (const each of [MAIL, FIRST, LATE]) expect(await isOpenTo('eve', each)).toBe(true);
  },
);

test('removing a mail ends the attempt that makes documents of its attachments', async () => {
  const seen: string[] = [];
  const watching: Records = {
    ...records,
    update: async (documentId, ...change) => {
      if (documentId !== MAIL) seen.push((await records.read(MAIL))?.status ?? 'removed');
      return records.update(documentId, ...change);
    },
  };
  const removal = { documentId: MAIL, principal: { id: 'owner' } };
  const change = createCommitChange(watching, jobs);
  await removeWithAttachments((asked, apply) => change({ ...asked, right: 'write' }, apply), removal);
  expect(new Set(seen)).toEqual(new Set(['cancelled']));
  for (const each of [MAIL, FIRST, SECOND, INNER]) expect(await records.read(each)).toBeNull();
});
