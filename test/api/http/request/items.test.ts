import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createBodyBudget } from '../../../../src/api/http/request/body-budget.js';
import { LineSplitter } from '../../../../src/api/http/request/items/group-lines.js';
import { findListElements } from '../../../../src/api/http/request/items/receive-items.js';

const budget = createBodyBudget({ maxBytes: 16 * 1024 ** 2, shareBytes: 8 * 1024 ** 2 });

/** JSON that is written with white space, escapes and keys in any order. */
const written = fc.record({
  list: fc.array(fc.json()),
  before: fc.dictionary(fc.string(), fc.jsonValue()),
  space: fc.constantFrom('', ' ', '\n\t', '\r\n  '),
});

describe('the elements of a list', () => {
  test('are those that JSON.parse finds', async () => {
    await fc.assert(
      fc.asyncProperty(written, async ({ list, before, space }) => {
        const others = Object.entries(before)
          .filter(([key]) => key !== 'items')
          .map(([key, value]) => `${JSON.stringify(key)}${space}:${JSON.stringify(value)},${space}`);
        const inside = list.map((item) => `${space}${item}${space}`).join(',');
        const body = `${space}{${others.join('')}"items"${space}:${space}[${inside}${space}]${space}}`;
        const bytes = Buffer.from(body);
        const { rest, elements } = await findListElements(bytes, 'items', 1_000);
        const found = elements.map(
          ({ start, end }) => JSON.parse(bytes.toString('utf8', start, end)) as unknown,
        );
        const whole = JSON.parse(body) as { items: unknown[] };
        expect(found).toEqual(whole.items);
        expect(JSON.parse(rest.toString())).toEqual({ ...whole, items: [] });
      }),
      { numRuns: 300 },
    );
  });

  test('are at most one more than was asked for', async () => {
    const { elements } = await findListElements(Buffer.from('{"items":[1,2,3,4,5]}'), 'items', 2);
    expect(elements).toHaveLength(3);
  });
});

describe('the lines of a stream', () => {
  test('are the same however it is cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('', ' \r', 'short', 'é'.repeat(20), 'x'.repeat(70))),
        fc.array(fc.nat(120)),
        fc.boolean(),
        (lines, cuts, isEnded) => {
          const bytes = Buffer.from(lines.join('\n') + (isEnded && lines.length > 0 ? '\n' : ''));
          const claim = budget.claim('alice');
          const splitter = new LineSplitter({ maxLineBytes: 50, claim });
          const found: [number, string][] = [];
          const take = (some: ReturnType<LineSplitter['push']>) => {
            for (const { number, bytes: line, error } of some)
              found.push([number, error ? 'error' : line.toString()]);
          };
          let at = 0;
          for (const size of cuts) {
            take(splitter.push(Buffer.from(bytes.subarray(at, at + size))));
            at += size;
          }
          take(splitter.push(bytes.subarray(at)));
          take(splitter.finish());
          claim.release();
          const expected = lines.flatMap((line, i): [number, string][] =>
            line.trim() === '' ? [] : [[i, line.length > 50 ? 'error' : line]],
          );
          expect(found).toEqual(expected);
        },
      ),
      { numRuns: 500 },
    );
    expect(budget.heldBytes()).toBe(0);
  });
});
