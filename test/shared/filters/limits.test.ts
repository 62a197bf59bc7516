import { describe, expect, test } from '@jest/globals';
import { parseFilter } from '../../../src/shared/filters/parse.js';
import { processorMilliseconds } from '../../support/processor-time.js';

function refusals(json: unknown) {
  const parsed = parseFilter(json);
  return 'errors' in parsed ? parsed.errors : [];
}

const nested = (levels: number): unknown => (levels === 0 ? { a: 1 } : { $not: nested(levels - 1) });
const many = (count: number) => ({ $or: Array.from({ length: count }, (_, index) => ({ a: index })) });

describe('limits of a filter', () => {
  test('are 64 conditions', () => {
    expect(refusals(many(64))).toEqual([]);
    expect(refusals(many(65))).toEqual([
      {
        loc: ['filters'],
        msg: 'ensure filters have at most 64 conditions',
        type: 'value_error',
        ctx: { limit_value: 64 },
      },
    ]);
    expect(refusals({ $or: Array.from({ length: 65 }, () => ({})) })).toHaveLength(1);
  });

  test('are 8 levels', () => {
    expect(refusals(nested(8))).toEqual([]);
    expect(refusals(nested(9))).toMatchObject([{ type: 'value_error', ctx: { limit_value: 8 } }]);
    expect(refusals(nested(5000))).toHaveLength(1);
    expect(refusals({ $and: [{ a: { $not: { $not: { $eq: 1 } } } }] })).toEqual([]);
  });

  test.each(['$in', '$nin'])('are 1,000 values in a list of %s', (operator) => {
    const listOf = (length: number) => ({ a: { [operator]: Array.from({ length }, (_, i) => i) } });
    expect(refusals(listOf(1_000))).toEqual([]);
    expect(refusals(listOf(1_001))).toEqual([
      {
        loc: ['filters', 'a', operator],
        msg: 'ensure this value has at most 1000 items',
        type: 'value_error.list.max_items',
        ctx: { limit_value: 1_000 },
      },
    ]);
    expect(refusals({ $not: { b: { $not: listOf(1_001).a } } })).toMatchObject([
      { loc: ['filters', '$not', 'b', '$not', operator] },
    ]);
  });

  test('are 8 texts that are looked for within others, of 256 letters each; every value is a condition', () => {
    const any = (values: readonly unknown[]) => ({ a: { $containsAny: values } });
    const texts = (count: number) => Array.from({ length: count }, (_, i) => `text ${String(i)}`);
    const tooMany = [
      {
        loc: ['filters'],
        msg: 'ensure filters look for at most 8 texts by $contains and $containsAny',
        type: 'value_error',
        ctx: { limit_value: 8 },
      },
    ];
    expect(refusals(any(texts(8)))).toEqual([]);
    expect(refusals(any(texts(9)))).toEqual(tooMany);
    expect(refusals({ ...any(texts(8)), b: { $contains: 'x' }, c: { $contains: 'y' } })).toEqual(tooMany);
    const numbers = Array.from({ length: 64 }, (_, i) => i);
    expect(refusals(any(numbers))).toEqual([]);
    expect(refusals({ ...any(numbers), b: 1 })).toMatchObject([{ ctx: { limit_value: 64 } }]);
    expect(refusals(any([...numbers, 64]))).toEqual([
      {
        loc: ['filters', 'a', '$containsAny'],
        msg: 'ensure this value has at most 64 items',
        type: 'value_error.list.max_items',
        ctx: { limit_value: 64 },
      },
    ]);
    expect(refusals({ a: { $contains: 'x'.repeat(256), $startsWith: 'x'.repeat(2_000) } })).toEqual([]);
    expect(refusals(any(['x', 'x'.repeat(257)]))).toEqual([
      {
        loc: ['filters', 'a', '$containsAny', 1],
        msg: 'ensure this value has at most 256 characters',
        type: 'value_error.any_str.max_length',
        ctx: { limit_value: 256 },
      },
    ]);
  });

  test('are 262,144 bytes of JSON, keys and values together, wherever they are', () => {
    const tooLarge = [
      {
        loc: ['filters'],
        msg: 'ensure filters have at most 262144 bytes of JSON',
        type: 'value_error',
        ctx: { limit_value: 262_144 },
      },
    ];
    const long = 'é'.repeat(3_000);
    const ids = Array.from({ length: 1_000 }, (_, i) => String(i).padStart(256, 'x'));
    expect(refusals({ id: { $in: ids } })).toEqual([]);
    expect(refusals({ id: { $in: ids }, other: { $in: ids } })).toEqual(tooLarge);
    expect(refusals({ a: 'x'.repeat(262_000) })).toEqual([]);
    expect(refusals({ a: 'x'.repeat(262_144) })).toEqual(tooLarge);
    expect(refusals({ a: { $ne: '\u0001'.repeat(50_000) } })).toEqual(tooLarge);
    expect(refusals({ ['k'.repeat(262_144)]: 1 })).toEqual(tooLarge);
    expect(
      refusals({ $or: Array.from({ length: 60 }, (_, i) => ({ [long + String(i)]: { $gt: 1 } })) }),
    ).toEqual(tooLarge);
    const values = (of: number) => Array.from({ length: 1_000 }, (_, i) => of * 1_000 + i);
    expect(refusals({ $or: Array.from({ length: 64 }, (_, i) => ({ n: { $in: values(i) } })) })).toEqual(
      tooLarge,
    );
  });

  test('hold quickly against enormous filters, with a bounded answer', () => {
    const started = processorMilliseconds();
    expect(refusals(many(300_000))).toHaveLength(1);
    expect(refusals({ a: { $in: Array.from({ length: 300_000 }, () => ({})) } })).toHaveLength(1);
    expect(refusals({ a: { $in: Array.from({ length: 1_000 }, () => ({})) } })).toHaveLength(100);
    expect(refusals({ $or: Array.from({ length: 300_000 }, () => 1) })).toHaveLength(100);
    expect(JSON.stringify(refusals({ [`$${'x'.repeat(1e6)}`]: 1 })).length).toBeLessThan(1000);
    expect(processorMilliseconds() - started).toBeLessThan(5_000);
  });
});
