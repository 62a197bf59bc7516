import { describe, expect, test } from '@jest/globals';
import { nameMark } from '../../../src/shared/chunks/fields.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { embedded, GENERATION, marks, now, sea, sky, useChunks } from '../../support/chunk-world.js';

const { redis, chunks, write, embed, tagsOf, discard, counted } = useChunks();

describe('a file that gets another name', () => {
  const newName = { tags: 'tag-c', named: nameMark('other.pdf') };
  const rename = async (numbers: readonly number[], terms: ReadonlyMap<number, Uint8Array | null>) => {
    const found = await chunks.readOtherNames(GENERATION, { numbers, named: newName.named });
    if (!found) throw new Error('no other names');
    const change = { ...newName, numbers, of: now, renaming: { ...found, terms } };
    return { found, outcome: await chunks.writeTags(GENERATION, change) };
  };

  test('has chunks that hold the terms of the name before, with what is known of them', async () => {
    await write(0, 2);
    await embed([0]);
    const found = await chunks.readOtherNames(GENERATION, { numbers: [0, 1, 9], named: newName.named });
    expect(found?.state).toEqual({ kind: 'counted', owner: 'ann' });
    expect(found?.chunks).toMatchObject([
      { named: marks.named, chunk: { number: 0, text: 'text 0' }, terms: Buffer.from(embedded(0).terms) },
      { named: marks.named, chunk: { number: 1, text: 'text 1' }, terms: null },
    ]);
    expect(await chunks.readOtherNames(GENERATION, { numbers: [0, 1], named: marks.named })).toBeNull();
  });

  test('is found by it, and no more by the one before, in the statistics of the owner, too', async () => {
    await write(0, 2);
    await embed([0, 1]);
    const terms = new Map([0, 1].map((n) => [n, embedded(n, [sea, sky, sky + 1]).terms]));
    expect((await rename([0, 1], terms)).outcome).toBe('written');
    expect([await counted(sea), await counted(sky)]).toEqual(['2', '2']);
    expect(await redis.hGet(keys.statistics('ann'), 'length')).toBe('6');
    expect(await chunks.readTerms(GENERATION, [0])).toMatchObject([
      { named: newName.named, terms: Buffer.from(terms.get(0) ?? []) },
    ]);
    expect([await tagsOf(0), await tagsOf(1)]).toEqual(['tag-c', 'tag-c']);
    expect(await chunks.taggedUpTo(GENERATION, newName)).toBe(2);
    const back = new Map([0, 1].map((n) => [n, embedded(n, [sky]).terms]));
    const again = await chunks.readOtherNames(GENERATION, { numbers: [0, 1], named: marks.named });
    const change = { ...marks, numbers: [0, 1], of: now };
    expect(
      again && (await chunks.writeTags(GENERATION, { ...change, renaming: { ...again, terms: back } })),
    ).toBe('written');
    expect([(await counted(sea)) ?? '0', await counted(sky)]).toEqual(['0', '2']);
  });

  test('is left for another try where the chunks, or who counts them, are others by then', async () => {
    await write(0, 1);
    await embed([0]);
    const terms = new Map([[0, embedded(0, [sky]).terms]]);
    const found = await chunks.readOtherNames(GENERATION, { numbers: [0], named: newName.named });
    if (!found) throw new Error('no other names');
    const attempt = (renaming: typeof found, of = now) =>
      chunks.writeTags(GENERATION, { ...newName, numbers: [0], of, renaming: { ...renaming, terms } });
    expect(await attempt({ ...found, state: { kind: 'counted', owner: 'bob' } })).toBe('overtaken');
    expect(await attempt({ ...found, state: { kind: 'nobody' } })).toBe('overtaken');
    expect(await attempt({ ...found, chunks: found.chunks.map((each) => ({ ...each, terms: null })) })).toBe(
      'overtaken',
    );
    expect(await attempt({ ...found, chunks: found.chunks.map((each) => ({ ...each, named: 'x' })) })).toBe(
      'overtaken',
    );
    expect(await attempt(found, { ...now, revision: 4 })).toBe('overtaken');
    expect(await counted(sky)).toBeNull();
    await expect(attempt({ ...found, state: { kind: 'counting', owner: 'ann', below: 9 } })).rejects.toThrow(
      'being counted',
    );
    expect(await attempt(found)).toBe('written');
    await discard();
    expect(await attempt(found)).toBe('refused');
  });

  test('is not written after chunks that have other tags', async () => {
    await write(0, 2);
    await embed([0, 1]);
    expect((await rename([1], new Map([[1, embedded(1).terms]]))).outcome).toBe('overtaken');
    expect(await tagsOf(1)).toBe(marks.tags);
  });
});
