import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { exactNumber, isExact } from '../../src/shared/json-values.js';
import { processorMilliseconds } from '../support/processor-time.js';

/** The value of a decimal number as a fraction of two whole numbers, which lose nothing. */
function fractionOf(literal: string): readonly [bigint, bigint] {
  const [mantissa = '', exponent = '0'] = literal.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const power = Number(exponent) - fraction.length;
  const digits = BigInt(`${whole}${fraction}`.replace('+', ''));
  return power < 0 ? [digits, 10n ** BigInt(-power)] : [digits * 10n ** BigInt(power), 1n];
}

function areEqual(left: string, right: string): boolean {
  const [[a, b], [c, d]] = [fractionOf(left), fractionOf(right)];
  return a * d === c * b;
}

const digits = (minLength: number, maxLength: number) =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength, maxLength }).map((each) => each.join(''));
const integer = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.integer({ min: 1, max: 9 }),
    digits(0, 30),
    fc.constantFrom('', '000000'),
  )
  .map(([sign, first, rest, zeros]) => `${sign}${String(first)}${rest}${zeros}`);
const decimal = fc
  .tuple(integer, fc.option(digits(1, 25)), fc.option(fc.integer({ min: -340, max: 320 })))
  .map(([whole, fraction, exponent]) =>
    [whole, fraction === null ? '' : `.${fraction}`, exponent === null ? '' : `e${String(exponent)}`].join(
      '',
    ),
  );

describe('a number', () => {
  test('that is whole is exact if and only if a double is written back as the same number', () => {
    fc.assert(
      fc.property(integer, (literal) => {
        expect(isExact(literal)).toBe(areEqual(literal, String(Number(literal))));
      }),
      { numRuns: 2000 },
    );
  });

  test('of any form is exact only if a double, written short or with 17 digits, is the same number', () => {
    fc.assert(
      fc.property(decimal, (literal) => {
        const value = Number(literal);
        const isSame = (text: string) => Number.isFinite(value) && areEqual(literal, text);
        expect(isExact(literal)).toBe(
          isSame(String(value)) || (/[.e]/.test(literal) && isSame(value.toPrecision(17))),
        );
      }),
      { numRuns: 2000 },
    );
  });

  test('that a program has written of a double is exact', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(isExact(JSON.stringify(value))).toBe(true);
        expect(isExact(value.toExponential(16))).toBe(true);
        // Zero has no sign as text.
        expect(exactNumber(String(value)) === value).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    '0',
    '-0',
    '0.0',
    '0e999',
    '1.0',
    '1e22',
    '9007199254740992',
    '-9007199254740992',
    '1e308',
    '0.1',
  ])('%s is exact', (literal) => {
    expect(isExact(literal)).toBe(true);
  });

  test.each([
    '9007199254740993',
    '-9007199254740993',
    '9007199254740993.0',
    '18446744073709551616',
    '1546130668394913822',
    '1e400',
    '-1e400',
    '1e-400',
    '0.1000000000000000055',
    `1e${'9'.repeat(1000)}`,
  ])('%s is not', (literal) => {
    expect(isExact(literal)).toBe(false);
    expect(exactNumber(literal)).toBe(Infinity);
  });

  test('of a million digits takes no longer than reading it', () => {
    const started = processorMilliseconds();
    expect(isExact(`1${'0'.repeat(1_000_000)}1`)).toBe(false);
    expect(isExact(`0.${'0'.repeat(1_000_000)}1`)).toBe(false);
    expect(processorMilliseconds() - started).toBeLessThan(1000);
  });
});
