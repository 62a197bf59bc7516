import { describe, expect, test } from '@jest/globals';
import { createChunks } from '../../../src/shared/chunks/chunks.js';
import { nameMark } from '../../../src/shared/chunks/fields.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { embedded, GENERATION, marks, numbersFrom, sea, useChunks } from '../../support/chunk-world.js';

const { redis, chunks, write, embed, discard, counted } = useChunks();
const other = createChunks(redis, { field: 'vector2', type: 'float16' });

describe('what embedding adds to chunks', () => {
  test('is written for a whole batch, of whatever size, and the last step counts its terms for the owner', async () => {
    const numbers = numbersFrom(0, 20);
    await write(0, 20);
    expect(await embed(numbers)).toBe(true);
    const addresses = numbers.map((number) => ({ generation: GENERATION, number }));
    expect(await chunks.readVectors(addresses)).toEqual(numbers.map((n) => Float32Array.of(1, n)));
    expect(await counted(sea)).toBe('20');
    expect(await redis.hGet(keys.statistics('ann'), 'chunks')).toBe('20');
    const terms = await chunks.readTerms(GENERATION, [0, 19]);
    expect(terms).toEqual(
      [0, 19].map((number) => ({ number, terms: expect.anything(), named: marks.named })),
    );
    expect(terms[0]?.terms).toEqual(Buffer.from(embedded(0).terms));
  });

  test('is counted once, however often it is written', async () => {
    await write(0, 10);
    await embed(numbersFrom(0, 10));
    await embed(numbersFrom(0, 10));
    expect(await counted(sea)).toBe('10');
  });

  test('is counted for nobody where the owner may not read the document', async () => {
    await write(0, 1);
    expect(await embed([0], { owner: null })).toBe(true);
    expect(await redis.exists(keys.statistics('ann'))).toBe(0);
    expect(await chunks.finishBatch(GENERATION, { batch: 0, of: 1 })).toBe(0);
  });

  test('is not written once the generation was discarded', async () => {
    await write(0, 10);
    await discard();
    expect(await embed([0])).toBe(false);
    expect(await embed(numbersFrom(0, 10))).toBe(false);
    expect(await chunks.writeVectors(GENERATION, [embedded(0)])).toBe(false);
    expect(await chunks.readVectors([{ generation: GENERATION, number: 0 }])).toEqual([null]);
  });

  test('is refused by another name of the file than the chunks are found by, before anything is written', async () => {
    await write(0, 10);
    await expect(embed(numbersFrom(0, 10), { named: nameMark('other.pdf') })).rejects.toThrow('renamed');
    await expect(embed([0], { named: '' })).rejects.toThrow('renamed');
    expect(await chunks.readVectors([{ generation: GENERATION, number: 0 }])).toEqual([null]);
    expect(await counted(sea)).toBeNull();
  });

  test('is written by any name into chunks of earlier versions, which do not say theirs', async () => {
    await write(0, 1, { named: '' });
    expect(await embed([0])).toBe(true);
    expect(await chunks.readTerms(GENERATION, [0])).toMatchObject([{ named: marks.named }]);
  });

  test('is refused where Redis lost vectors of the batch before its last step, and nothing is counted then', async () => {
    await write(0, 10);
    let steps = 0;
    const losing = Object.create(redis, {
      eval: {
        value: async (...given: Parameters<typeof redis.eval>) => {
          if ((steps += 1) === 2) await redis.hDel(keys.chunk(GENERATION, 0), 'vector');
          return redis.eval(...given);
        },
      },
    }) as typeof redis;
    const whole = {
      batch: 0,
      owner: 'ann',
      named: marks.named,
      chunks: numbersFrom(0, 10).map((n) => embedded(n)),
    };
    await expect(createChunks(losing).writeEmbedded(GENERATION, whole)).rejects.toThrow('no vectors');
    expect(await counted(sea)).toBeNull();
  });

  test('are vectors by themselves, whatever the file is called, which another set does not have', async () => {
    await write(0, 9);
    const vectors = numbersFrom(0, 9).map((number) => ({ number, vector: Float32Array.of(1, number) }));
    expect(await other.writeVectors(GENERATION, vectors)).toBe(true);
    const address = { generation: GENERATION, number: 8 };
    expect(await other.readVectors([address])).toEqual([Float32Array.of(1, 8)]);
    expect(await chunks.readVectors([address])).toEqual([null]);
    expect(await chunks.readTerms(GENERATION, [8])).toEqual([]);
    await other.removeVectors(GENERATION, [8]);
    expect(await other.readVectors([address, { generation: GENERATION, number: 7 }])).toEqual([
      null,
      Float32Array.of(1, 7),
    ]);
  });

  test('says of each set of vectors which are means of those of parts', async () => {
    await write(0, 2);
    const mean = { number: 0, vector: Float32Array.of(1), inParts: true };
    await chunks.writeVectors(GENERATION, [mean, { number: 1, vector: Float32Array.of(1) }]);
    const addresses = [0, 1].map((number) => ({ generation: GENERATION, number }));
    expect(await chunks.readInParts(addresses)).toEqual([true, false]);
    expect(await other.readInParts(addresses)).toEqual([false, false]);
    await chunks.removeVectors(GENERATION, [0]);
    expect(await chunks.readInParts(addresses)).toEqual([false, false]);
  });

  test('are terms of all chunks that are asked for, or of none', async () => {
    await write(0, 2);
    await embed([0]);
    expect(await chunks.readTerms(GENERATION, [0])).toHaveLength(1);
    expect(await chunks.readTerms(GENERATION, [0, 1])).toEqual([]);
    expect(await chunks.readTerms(GENERATION, [])).toEqual([]);
  });
});

describe('a batch', () => {
  const finish = (n: number, of = 2) => chunks.finishBatch(GENERATION, { batch: n, of });

  test('is finished once its vectors are there and its terms are counted, and leaves so many others', async () => {
    await write(0, 65);
    await expect(finish(0)).rejects.toThrow('no vectors');
    await chunks.writeVectors(GENERATION, [embedded(0)]);
    await expect(finish(0)).rejects.toThrow('not counted');
    await embed([0]);
    expect(await chunks.isFinished(GENERATION, 0)).toBe(false);
    expect(await finish(0)).toBe(1);
    expect(await finish(0)).toBe(1);
    expect(await chunks.isFinished(GENERATION, 0)).toBe(true);
    expect(await chunks.isFinished(GENERATION, 1)).toBe(false);
    await embed([64], { batch: 1 });
    expect(await finish(1)).toBe(0);
  });

  test('is finished for each set of vectors by itself', async () => {
    await write(0, 1);
    await embed([0]);
    await finish(0);
    expect(await other.isFinished(GENERATION, 0)).toBe(false);
    await expect(other.finishBatch(GENERATION, { batch: 0, of: 1 })).rejects.toThrow('no vectors');
    await other.writeVectors(GENERATION, [embedded(0)]);
    expect(await other.finishBatch(GENERATION, { batch: 0, of: 1 })).toBe(0);
  });

  test('of a generation that was discarded is not finished', async () => {
    await write(0, 1);
    await embed([0]);
    await discard();
    expect(await finish(0)).toBeNull();
    expect(await chunks.isFinished(GENERATION, 0)).toBe(false);
  });
});
