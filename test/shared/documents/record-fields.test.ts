import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  documentTags,
  absentIfMalformed,
  changedFields,
  changedJsonFields,
  parseRecordList,
  readRecord,
  readState,
  RECORD_FIELDS,
  refuseMalformed,
} from '../../../src/shared/documents/record-fields.js';
import { recordsOptions } from '../../../src/shared/documents/records-options.js';
import { createRecords } from '../../../src/shared/documents/records.js';
import { MalformedRecordError } from '../../../src/shared/errors.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { makeContent, makeDocument } from '../../support/documents.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis } = useTestRedis({ failFast: false });
const seen: string[] = [];
const lenient = createRecords(redis, undefined, { onMalformed: (id) => seen.push(id) });
const strict = createRecords(redis);
beforeEach(async () => {
  await redis.flushAll();
  seen.length = 0;
});

async function broken(field: string, value: string) {
  const record = makeDocument();
  await strict.create(record);
  await redis.hSet(keys.document(record.id), field, value);
  return record;
}

describe('a record that cannot be read', () => {
  test.each([
    ['version', 'x'],
    ['status', '"unheard of"'],
    ['readers', '{"a":1}'],
    ['metadata', '[]'],
  ])(
    'since its %s is %s is an error for who must not go on, and hides only its own document from others',
    async (field, value) => {
      const bad = await broken(field, value);
      const good = makeDocument();
      await strict.create(good);
      const ids = [bad.id, good.id];
      await expect(strict.read(bad.id)).rejects.toBeInstanceOf(MalformedRecordError);
      await expect(strict.readMany(ids)).rejects.toBeInstanceOf(MalformedRecordError);
      expect(await lenient.readMany(ids)).toEqual([null, good]);
      expect(await lenient.readSome(ids, 1_000_000)).toEqual([null, good]);
      expect(seen).toEqual([bad.id, bad.id]);
    },
  );

  test('may lack its state, too, for which the same holds', async () => {
    for (const [field, value] of [
      ['status', '"unheard of"'],
      ['status', '}'],
      ['retag', 'true'],
    ] as const) {
      const { id } = await broken(field, value);
      await expect(strict.readStates([id])).rejects.toBeInstanceOf(MalformedRecordError);
      expect(await lenient.readStates([id])).toEqual([null]);
      await expect(readState(redis, id)).rejects.toBeInstanceOf(MalformedRecordError);
      expect(seen.pop()).toBe(id);
    }
  });

  test('is not taken for one where something else fails', () => {
    const other = new Error('other');
    expect(() => absentIfMalformed('id', () => undefined)(other)).toThrow(other);
    expect(() => {
      refuseMalformed('id', other);
    }).toThrow(other);
  });

  test('is logged with its document by processes that serve', () => {
    const logged: unknown[] = [];
    const logger = { error: (of: unknown) => logged.push(of) };
    const quota = { documents: 1, bytes: 2, chunks: 3 };
    // @NOTE the two things that are read of the settings and the logger
    const options = recordsOptions({ quota }, logger as never, null);
    const error = new MalformedRecordError('no');
    options.onMalformed('id', error);
    expect(logged).toEqual([{ documentId: 'id', err: error }]);
  });
});

describe('a record', () => {
  test('of an earlier version, which lacks fields, is read as one in which nothing of that has happened', async () => {
    const record = makeDocument();
    await strict.create(record);
    await redis.hDel(keys.document(record.id), 'prepared');
    expect(await readRecord(redis, record.id)).toEqual(record);
    expect(await readRecord(redis, 'none')).toBeNull();
    expect(await readState(redis, record.id)).toEqual({ status: 'queued', retag: 0 });
    expect(await readState(redis, 'none')).toBeNull();
    await redis.hDel(keys.document(record.id), 'retag');
    expect(await strict.readStates([record.id])).toEqual([{ status: 'queued', retag: 0 }]);
  });

  test('comes back from the list of its values, and nothing else does', () => {
    const record = makeDocument();
    const values = new Map<string, unknown>(Object.entries(record));
    const list = RECORD_FIELDS.map((name) => values.get(name));
    expect(parseRecordList(JSON.stringify(list))).toMatchObject(record);
    for (const text of ['{}', '7', '[', '[1]'])
      expect(() => parseRecordList(text)).toThrow(MalformedRecordError);
  });

  test('is written whole with its tags when it is new, and later only as far as it differs', () => {
    const record = makeDocument({ metadata: { a: 1 } });
    const fields = changedFields(null, record);
    expect(Object.keys(fields).sort()).toEqual([...Object.keys(record), 'tags'].sort());
    expect(fields['tags']).toBe(documentTags(record));
    expect(changedFields(record, record)).toEqual({});
    expect(changedFields(record, { ...record, progress: 0.5 })).toEqual({ progress: '0.5' });
    const copied = { ...record, metadata: { a: 1 }, readers: [...record.readers] };
    expect(changedFields(record, copied)).toEqual({});
    expect(changedJsonFields(record, { ...record, error: null, published: null })).toEqual({});
    expect(changedJsonFields({ ...record, pending: null }, record)).toEqual({
      pending: JSON.stringify(record.pending),
    });
  });

  test.each([
    ['readers', { readers: ['ann'] }],
    ['writers', { writers: ['ann'] }],
    ['admins', { admins: ['ann'] }],
    ['metadata', { metadata: { b: 2 } }],
    ['published', { published: makeContent({ filename: 'x' }) }],
    ['pending', { pending: makeContent({ filename: 'x' }) }],
  ])('gets tags anew when its %s change', (_, change) => {
    const record = makeDocument();
    const after = { ...record, ...change };
    expect(changedFields(record, after)['tags']).toBe(documentTags(after));
  });
});

test('the states of more documents than one step reads come in the order of their ids', async () => {
  const documents = Array.from({ length: 3 }, (_, i) => makeDocument({ retag: i + 1 }));
  for (const document of documents) await strict.create(document);
  const ids = Array.from(
    { length: 1_001 },
    (_, i) => documents[[0, 499, 1_000].indexOf(i)]?.id ?? `none ${String(i)}`,
  );
  const states = await strict.readStates(ids);
  expect(states.flatMap((state, i) => (state ? [[i, state.retag]] : []))).toEqual([
    [0, 1],
    [499, 2],
    [1_000, 3],
  ]);
  expect(states).toHaveLength(1_001);
  expect(await strict.findFinished([])).toEqual([]);
});
