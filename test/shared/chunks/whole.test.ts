import { expect, test } from '@jest/globals';
import { embeddedFields, inPartsField, maxTagBytes } from '../../../src/shared/chunks/fields.js';
import { wholeFields, wholeWrite } from '../../../src/shared/chunks/write-chunks.js';
import { FIRST_VECTORS } from '../../../src/shared/data-set/stored-vectors.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { sumTerms } from '../../../src/shared/term-statistics/count-steps.js';
import {
  embedded,
  GENERATION,
  generationKey,
  marks,
  numbersFrom,
  textBatch,
  useChunks,
} from '../../support/chunk-world.js';

const { redis, chunks, write, embed } = useChunks();
/** Pairs of names and values as a hash has them. */
const hashOf = (fields: readonly (string | Buffer)[]) =>
  Object.fromEntries(
    fields.flatMap((name, i) => (i % 2 === 0 ? [[String(name), String(fields[i + 1])] as const] : [])),
  );
const whole = (inParts = false) => {
  const { first: _, ...batch } = textBatch(0, 3);
  const made = batch.chunks.map((chunk, number) => ({ ...chunk, ...embedded(number), inParts }));
  return { ...batch, chunks: made, tokens: 33 };
};

test('a generation that is written in one step is the one that its single steps write', async () => {
  await write(0, 3);
  await chunks.close(GENERATION, { chunks: 3, tokens: 33 });
  await embed(numbersFrom(0, 3));
  await chunks.finishBatch(GENERATION, { batch: 0, of: 1 });
  const { fields, rows } = wholeFields(FIRST_VECTORS, whole());
  expect(await redis.hGetAll(generationKey)).toMatchObject(hashOf(fields));
  expect(rows).toHaveLength(3);
  for (const [number, row] of rows.entries())
    expect(hashOf(row)).toEqual({ ...(await redis.hGetAll(keys.chunk(GENERATION, number))) });
});

test('a generation that is written in one step says that it was embedded in parts', () => {
  expect(hashOf(wholeFields(FIRST_VECTORS, whole(true)).fields)).toMatchObject({ in_parts: '1' });
  expect(hashOf(wholeFields(FIRST_VECTORS, whole()).fields)).not.toHaveProperty('in_parts');
});

test('the step that writes a generation is given whose statistics count it and its chunks, in their order', () => {
  const terms = sumTerms(whole().chunks.map((each) => each.terms));
  const made = wholeWrite(FIRST_VECTORS, { ...whole(), terms, owner: 'ann' });
  expect(made).toMatchObject({ generation: GENERATION, tags: marks.tags });
  expect(made.keys).toEqual({
    statistics: keys.statistics('ann'),
    chunks: numbersFrom(0, 3).map((n) => keys.chunk(GENERATION, n)),
  });
});

test('the fields of the first vectors are those of earlier versions, and others name their set', () => {
  const other = { field: 'vector2', type: 'float32' } as const;
  expect([...embeddedFields(FIRST_VECTORS, 2), inPartsField(FIRST_VECTORS)]).toEqual([
    'embedded:2',
    'embedded',
    'in_parts',
  ]);
  expect([...embeddedFields(other, 2), inPartsField(other)]).toEqual([
    'embedded:2:vector2',
    'embedded:vector2',
    'in_parts:vector2',
  ]);
});

test('a chunk has the words that a full-text index searches beside the terms that ranking reads', async () => {
  await write(0, 1);
  await embed([0]);
  expect(await redis.hExists(keys.chunk(GENERATION, 0), 'words')).toBe(1);
});

test('all chunks of a document may have 128 mebibytes of tags together', () => {
  const most = 128 * 1024 * 1024;
  expect([0, 1, 2, 3].map(maxTagBytes)).toEqual([most, most, most / 2, Math.floor(most / 3)]);
});
