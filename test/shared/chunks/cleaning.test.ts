import { describe, expect, test } from '@jest/globals';
import { keys } from '../../../src/shared/redis/keys.js';
import { GENERATION, generationKey, numbersFrom, useChunks } from '../../support/chunk-world.js';

const { redis, chunks, write, embed } = useChunks();

describe('a generation that is cleaned away', () => {
  const garbage = () => redis.sAdd(keys.garbage, GENERATION);

  test('tells how far that has come, and how many batches it has by what was written and what was closed', async () => {
    expect(await chunks.cleaning('never')).toEqual({ cleaned: 0, batches: 0, chunks: 0 });
    await redis.hSet(generationKey, { cleaned: '1', written: '65', chunks: '10' });
    expect(await chunks.cleaning(GENERATION)).toEqual({ cleaned: 1, batches: 2, chunks: 10 });
    await redis.hSet(generationKey, { written: '10', chunks: '129' });
    expect(await chunks.cleaning(GENERATION)).toEqual({ cleaned: 1, batches: 3, chunks: 129 });
  });

  test('loses chunks only while it is garbage, and only those that nobody counts', async () => {
    expect(await chunks.noteCleaned(GENERATION, 0)).toBe(false);
    await write(0, 20);
    expect(await chunks.unlink(GENERATION, [0])).toBeNull();
    expect(await chunks.noteCleaned(GENERATION, 0)).toBe(false);
    expect(await chunks.forget(GENERATION, 0)).toBe(false);
    await garbage();
    await embed([0]);
    expect(await chunks.unlink(GENERATION, [0, 1])).toBe(0);
    expect(await chunks.readTexts(GENERATION, 0, 2)).toHaveLength(2);
    await redis.hDel(generationKey, 'counted:0');
    await redis.hSet(generationKey, 'counting:0', '+9:ann');
    expect(await chunks.unlink(GENERATION, [0, 1])).toBe(0);
    await redis.hSet(generationKey, 'counting:0', 'nobody');
    expect(await chunks.unlink(GENERATION, numbersFrom(0, 21))).toBe(20);
    expect(await chunks.readTexts(GENERATION, 0, 20)).toEqual([]);
  });

  test('notes batch after batch, none while a chunk or a count of it is left', async () => {
    await write(0, 65);
    await garbage();
    expect(await chunks.noteCleaned(GENERATION, 0)).toBe(false);
    await chunks.unlink(GENERATION, numbersFrom(0, 63));
    expect(await chunks.noteCleaned(GENERATION, 0)).toBe(false);
    await chunks.unlink(GENERATION, [63]);
    expect(await chunks.noteCleaned(GENERATION, 1)).toBe(false);
    await redis.hSet(generationKey, 'counted:0', 'ann');
    expect(await chunks.noteCleaned(GENERATION, 0)).toBe(false);
    await redis.hDel(generationKey, 'counted:0');
    expect(await chunks.noteCleaned(GENERATION, 0)).toBe(true);
    expect(await chunks.noteCleaned(GENERATION, 0)).toBe(false);
    expect((await chunks.cleaning(GENERATION)).cleaned).toBe(1);
    await chunks.unlink(GENERATION, [64]);
    expect(await chunks.noteCleaned(GENERATION, 1)).toBe(true);
  });

  test('is forgotten when all of its batches are noted, and is hidden no more', async () => {
    await garbage();
    await redis.sAdd(keys.hidden, GENERATION);
    await redis.hSet(generationKey, 'cleaned', '2');
    expect(await chunks.forget(GENERATION, 1)).toBe(false);
    expect(await redis.exists(generationKey)).toBe(1);
    expect(await chunks.forget(GENERATION, 2)).toBe(true);
    expect(await redis.exists([generationKey, keys.hidden, keys.garbage])).toBe(0);
  });

  test('without a batch is forgotten at once', async () => {
    await garbage();
    expect(await chunks.forget(GENERATION, 0)).toBe(true);
    expect(await redis.exists([generationKey, keys.garbage])).toBe(0);
  });
});
