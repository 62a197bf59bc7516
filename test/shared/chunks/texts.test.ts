import { describe, expect, test } from '@jest/globals';
import { nameMark, textHash, type ChunkAddress } from '../../../src/shared/chunks/fields.js';
import { unpackReceipt } from '../../../src/shared/chunks/stored-receipt.js';
import { keys } from '../../../src/shared/redis/keys.js';
import {
  GENERATION,
  generationKey,
  marks,
  now,
  numbersFrom,
  textBatch,
  textOf,
  useChunks,
} from '../../support/chunk-world.js';

const { redis, chunks, write, tagsOf, discard } = useChunks();
const tag = (numbers: readonly number[], tags = 'tag-c', of = now) =>
  chunks.writeTags(GENERATION, { tags, named: marks.named, numbers, of });

describe('the texts of a generation', () => {
  test('are read as they were written, from any of them on, without those that are missing', async () => {
    expect(await write(0, 3)).toBe('written');
    const like: ChunkAddress = { generation: 'before', number: 7 };
    const nowhere = { location: null, section: [], spots: '' };
    expect(await chunks.readTexts(GENERATION, 1, 5)).toEqual([
      { number: 1, text: 'text 1', tokenCount: 11, overlap: 1, like, ...nowhere },
      { number: 2, text: 'text 2', tokenCount: 12, overlap: 2, like: null, ...nowhere },
    ]);
    const [placed] = textBatch(3, 1).chunks;
    if (!placed) throw new Error('no chunk');
    const where = { location: { pages: { first: 1, last: 2 } }, section: ['Data'], spots: 'AAI' };
    expect(await write(3, 1, { chunks: [{ ...placed, ...where, like }] })).toBe('written');
    expect(await chunks.readTexts(GENERATION, 3, 1)).toEqual([
      { number: 3, text: 'text 3', tokenCount: 13, overlap: 3, like, ...where },
    ]);
  });

  test('are written in order: those after texts that are missing are refused', async () => {
    await write(0, 2);
    await expect(write(3, 1)).rejects.toThrow('missing');
    expect(await chunks.readTexts(GENERATION, 0, 9)).toHaveLength(2);
    expect(await write(2, 2)).toBe('written');
    // A run that begins anew writes the first ones again, and none of the later ones is lost by it.
    expect(await write(0, 1)).toBe('written');
    expect(await write(4, 1)).toBe('written');
  });

  test('are not written into a generation that was discarded or never opened, nor by an older state of the record', async () => {
    expect(await chunks.writeTexts(textBatch(0, 1), now.revision - 1)).toBe('overtaken');
    await discard();
    expect(await write(0, 1)).toBe('refused');
    expect(await write(0, 1, { generation: 'never' })).toBe('refused');
    expect(await redis.exists([keys.chunk(GENERATION, 0), keys.chunk('never', 0)])).toBe(0);
  });

  test('are found by the digests of their texts', async () => {
    await write(0, 3);
    const found = await chunks.readHashes(GENERATION, 5);
    expect(found).toEqual(
      new Map([0, 1, 2].map((n) => [textHash(textOf(n)), { generation: GENERATION, number: n }])),
    );
    expect([...(await chunks.readHashes(GENERATION, 1)).values()]).toEqual([
      { generation: GENERATION, number: 0 },
    ]);
    expect(textHash('a')).toMatch(/^[\w-]{22}$/);
  });

  test('of more than a thousand chunks are found, too', async () => {
    for (const n of [0, 999, 1_000, 1_001])
      await redis.hSet(keys.chunk(GENERATION, n), 'hash', `h${String(n)}`);
    const found = await chunks.readHashes(GENERATION, 1_001);
    expect([...found.values()].map(({ number }) => number)).toEqual([0, 999, 1_000]);
  });
});

describe('a generation', () => {
  const receipt = unpackReceipt('{}');

  test('tells how many chunks and tokens it has once it is closed, and 0 before', async () => {
    await write(0, 2);
    expect(await chunks.generation(GENERATION)).toEqual({ chunks: 0, tokens: 0, inParts: false });
    expect(await chunks.close(GENERATION, { chunks: 2, tokens: 21, receipt })).toBe(true);
    expect(await chunks.generation(GENERATION)).toEqual({ chunks: 2, tokens: 21, inParts: false });
    expect(await chunks.receipt(GENERATION)).toEqual(receipt);
    expect(await chunks.generation('never')).toBeNull();
    expect(await chunks.receipt('never')).toBeNull();
  });

  test('is not closed while texts of it are missing, nor once it is discarded', async () => {
    await write(0, 2);
    await expect(chunks.close(GENERATION, { chunks: 3, tokens: 1 })).rejects.toThrow('missing');
    await discard();
    expect(await chunks.close(GENERATION, { chunks: 2, tokens: 1 })).toBe(false);
    expect(await redis.hExists(generationKey, 'chunks')).toBe(0);
  });

  test('without a text is closed, and has no receipt where none is given', async () => {
    expect(await chunks.close(GENERATION, { chunks: 0, tokens: 0 })).toBe(true);
    expect(await chunks.receipt(GENERATION)).toBeNull();
  });

  test('says that it was embedded in parts, as a gap of its receipt, too, unless it was discarded', async () => {
    await chunks.close(GENERATION, { chunks: 0, tokens: 0, receipt });
    await chunks.noteInParts(GENERATION);
    expect(await chunks.generation(GENERATION)).toMatchObject({ inParts: true });
    expect((await chunks.receipt(GENERATION))?.gaps).toHaveLength(1);
    await redis.hDel(generationKey, 'in_parts');
    await discard();
    await chunks.noteInParts(GENERATION);
    expect(await chunks.generation(GENERATION)).toMatchObject({ inParts: false });
  });
});

describe('the tags of chunks', () => {
  const upTo = (tags = marks.tags, named = marks.named) => chunks.taggedUpTo(GENERATION, { tags, named });

  test('are those of the record from the first text on, by the name of its file', async () => {
    expect(await upTo()).toBe(0);
    await write(0, 2);
    await write(2, 1);
    expect(await upTo()).toBe(3);
    expect(await upTo('other')).toBe(0);
    expect(await upTo(marks.tags, nameMark('other.pdf'))).toBe(0);
    expect(await upTo(marks.tags, '')).toBe(0);
    expect(await tagsOf(2)).toBe(marks.tags);
    expect(nameMark(null)).toBe('');
    expect(nameMark('a')).toHaveLength(8);
  });

  test('are written anew from the first chunk on, and it is noted how far', async () => {
    await write(0, 20);
    expect(await tag(numbersFrom(0, 10))).toBe('written');
    expect(await upTo('tag-c')).toBe(10);
    expect([await tagsOf(0), await tagsOf(9), await tagsOf(10)]).toEqual(['tag-c', 'tag-c', marks.tags]);
    expect(await tag(numbersFrom(5, 5))).toBe('written');
    expect(await upTo('tag-c')).toBe(10);
    expect(await tag(numbersFrom(10, 10))).toBe('written');
    expect(await upTo('tag-c')).toBe(20);
  });

  test('are not written after chunks that have other tags or have lost theirs', async () => {
    await write(0, 4);
    expect(await tag([2, 3])).toBe('overtaken');
    expect(await tagsOf(2)).toBe(marks.tags);
    await tag([0, 1]);
    await redis.hDel(generationKey, 'tagged');
    expect(await tag([2, 3])).toBe('overtaken');
  });

  test('are not written by an older state of the record, nor into a generation that was discarded', async () => {
    await write(0, 2);
    expect(await tag([0, 1], 'tag-c', { ...now, revision: 4 })).toBe('overtaken');
    await discard();
    expect(await tag([0, 1])).toBe('refused');
    expect(await tagsOf(0)).toBe(marks.tags);
  });

  test('are noted no more where later texts come with other tags', async () => {
    await write(0, 2);
    await write(2, 1, { tags: 'newer' });
    expect(await upTo()).toBe(0);
    expect(await upTo('newer')).toBe(0);
    await write(0, 1, { tags: 'newer' });
    expect(await upTo('newer')).toBe(1);
  });
});
