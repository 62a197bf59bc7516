import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { createRecordParser } from '../../../../../src/shared/adapters/exact-index/mirror/record-parser.js';

const MEBIBYTE = 2 ** 20;

const moduleUrl = new URL(
  '../../../../../dist/shared/adapters/exact-index/mirror/record-parser.js',
  import.meta.url,
).href;

/**
 * Returns the bytes that a parser holds after it parsed records with the lists that `listsOf`, JavaScript, makes of a
 * number.
 */
async function heldAfter(count: number, listsOf: string): Promise<number> {
  const program = `
    const { createRecordParser } = await import(${JSON.stringify(moduleUrl)});
    const parse = createRecordParser();
    // Several times: some of what a collection leaves goes with the next one.
    const memory = () => { for (let n = 0; n < 5; n += 1) gc(); const { heapUsed, external } = process.memoryUsage(); return heapUsed + external; };
    const listsOf = ${listsOf};
    const fields = JSON.stringify(['2024-05-01T10:00:00.000Z', 'owner', {}, null, null]);
    const before = memory();
    for (let n = 0; n < ${String(count)}; n += 1) {
      // As it comes from Redis: one text of its own, which shares nothing with others.
      const access = Buffer.from(listsOf(n).map((list) => JSON.stringify(list)).join('\\n')).toString();
      parse('document', { access, fields });
    }
    const taken = memory() - before;
    parse('document', { access: '["a"]\\n["a"]\\n["a"]', fields });
    console.log(taken);`;
  const options = ['--expose-gc', '--input-type=module', '--eval', program];
  return Number((await promisify(execFile)(process.execPath, options)).stdout);
}

describe('parsed access lists', () => {
  test.each([
    ['long ids', `'x'.repeat(250)`],
    ['ids of emoji', `'😀'.repeat(120)`],
    ['short ids', `'u'`],
  ])(
    'of %s in ever another order hold no more than their budget',
    async (_, id) => {
      const rotated = `(n) => ['r', 'w', 'a'].map((list) =>
        Array.from({ length: 1000 }, (_, i) => list + ${id} + ((i + n) % 1000)))`;
      expect(await heldAfter(100, rotated)).toBeLessThan(24 * MEBIBYTE);
    },
    120_000,
  );

  test('of thousands of small documents hold no more than their budget', async () => {
    const own = `(n) => [['reader-' + n], ['writer-' + n, 'more-' + n], ['admin-' + n]]`;
    expect(await heldAfter(100_000, own)).toBeLessThan(24 * MEBIBYTE);
  }, 120_000);

  test('have the same key where they are the same, short or long, and else another', () => {
    const parse = createRecordParser();
    const fields = JSON.stringify(['2024-05-01T10:00:00.000Z', 'owner', {}, null, null]);
    const parsed = (readers: readonly string[]) =>
      parse('document', { access: `${JSON.stringify(readers)}\n["w"]\n["a"]`, fields });
    const long = Array.from({ length: 1_000 }, (_, i) => `reader-${String(i)}`);
    for (const readers of [['bob'], long]) {
      const { access, accessKey } = parsed(readers);
      expect(access).toEqual({ readers, writers: ['w'], admins: ['a'] });
      expect(parsed(readers).accessKey).toBe(accessKey);
      expect(parsed(readers).access.readers).toBe(access.readers);
      expect(parsed([...readers, 'carol']).accessKey).not.toBe(accessKey);
    }
  });
});
