import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { get_encoding } from 'tiktoken';
import { countTokens, countTokensExactly } from '../../../src/shared/text/token-count.js';
import { processorMilliseconds } from '../../support/processor-time.js';

const tiktoken = get_encoding('cl100k_base');
const raw = (text: string): number => tiktoken.encode(text, [], []).length;

describe('counting tokens', () => {
  test('agrees with tiktoken on words, numbers, contractions, punctuation and white space', () => {
    const text =
      "I'll say: they've 12345 dogs,  DON'T we?\r\n\r\n  - (brackets) 3.14\t\ttabs \n \n\u00a0x \u0085 it\u2019s 's 'LLama \u017f 'ſ";
    expect(countTokens(text)).toBe(raw(text));
  });

  test('agrees with tiktoken in scripts without spaces, with marks, and with emoji', () => {
    const text = '红军作战的原则。あいうえお、東京 हिन्दी में लिखा ไทยไม่มีช่องว่าง اللغة العربية 👩‍👩‍👧🇩🇪 e\u0301';
    expect(countTokens(text)).toBe(raw(text));
  });

  test('agrees with tiktoken on any text', () => {
    const word = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 12 }),
      fc.constantFrom(' ', '  ', '\n', '\r\n', "'s", "'RE", '12345', '。', ' (', 'Wörter', '\t', ' \n '),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 40 }), (words) => {
        const text = words.join('');
        expect(countTokens(text)).toBe(raw(text));
      }),
      { numRuns: 500 },
    );
  });

  test('agrees with tiktoken on each of its tokens', () => {
    const decoder = new TextDecoder();
    for (let rank = 0; rank < 100_256; rank += 1) {
      const token = decoder.decode(tiktoken.decode_single_token_bytes(rank));
      const count = countTokensExactly(token);
      if (count !== raw(token)) throw new Error(`${JSON.stringify(token)}: ${String(count)}`);
    }
  });

  test('agrees with tiktoken on long runs that are not cut, and on anything else that a string may hold', () => {
    const unit = fc.oneof(
      fc.constantFrom(
        'a',
        'ab',
        '漢',
        ' ',
        '\n',
        '-',
        '=',
        '😀',
        '\ud800',
        '\ufeff',
        '\u0085',
        '\u017f',
        "'",
      ),
      fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
    );
    const run = fc.tuple(unit, fc.integer({ min: 1, max: 400 })).map(([part, times]) => part.repeat(times));
    const word = fc.array(fc.integer({ min: 97, max: 122 }), { maxLength: 300 });
    const text = fc.oneof(
      run,
      word.map((letters) => String.fromCharCode(...letters)),
      fc.array(unit).map((units) => units.join('')),
      fc.array(run, { maxLength: 4 }).map((runs) => runs.join('')),
    );
    fc.assert(
      fc.property(text, (each) => {
        expect(countTokensExactly(each)).toBe(raw(each));
      }),
      { numRuns: 300 },
    );
  });

  test('costs a process that counts for the first time a few milliseconds and megabytes', async () => {
    const tokenCount = new URL('../../../dist/shared/text/token-count.js', import.meta.url);
    const script = `
      const { countTokens } = await import('${tokenCount.href}');
      const before = [process.memoryUsage.rss(), process.cpuUsage()];
      countTokens('Any text.');
      const { user, system } = process.cpuUsage(before[1]);
      console.log(JSON.stringify([(process.memoryUsage.rss() - before[0]) / 1024 ** 2, (user + system) / 1000]));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    const [megabytes, milliseconds] = JSON.parse(stdout) as [number, number];
    // WebAssembly with the same table took 45 MB and 150 ms.
    expect(megabytes).toBeLessThan(10);
    expect(milliseconds).toBeLessThan(60);
  });

  test('takes the names of special tokens for plain text', () => {
    expect(countTokens('<|endoftext|>')).toBe(raw('<|endoftext|>'));
    expect(countTokens('')).toBe(0);
  });

  test('counts the longest query that is one unbroken run without holding up the event loop', () => {
    const started = processorMilliseconds();
    const count = countTokens('a'.repeat(32_768));
    expect(processorMilliseconds() - started).toBeLessThan(5_000);
    expect(count).toBe(4_096);
  });
});
