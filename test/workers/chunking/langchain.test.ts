import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { RecursiveCharacterTextSplitter, SupportedTextSplitterLanguages } from '@langchain/textsplitters';
import fc from 'fast-check';
import { get_encoding } from 'tiktoken';
import { freshText } from '../../../src/shared/chunks/fields.js';
import { SPLITTERS } from '../../../src/shared/chunking.js';
import { countTokens } from '../../../src/shared/text/token-count.js';
import { unpackSpots, placeOfPart } from '../../../src/shared/chunks/spots.js';
import type { Block } from '../../../src/readers/blocks/block.js';
import { chunkLikeLangChain, type LangChainSplitter } from '../../../src/workers/chunking/langchain.js';
import { createBlockCollector, locateChunks } from '../../../src/workers/parse/extraction.js';

const tiktoken = get_encoding('cl100k_base');
const lengths = new Map<string, number>();
/** As somebody measures who uses LangChain with OpenAI's models. */
function lengthByTiktoken(text: string): number {
  const known = lengths.get(text);
  if (known !== undefined) return known;
  const { length } = tiktoken.encode(text, [], []);
  lengths.set(text, length);
  return length;
}

interface Options {
  readonly size: number;
  readonly overlap: number;
  readonly splitter: LangChainSplitter;
}

/** The chunks of the package itself. */
function splitByPackage(
  text: string,
  { size: chunkSize, overlap: chunkOverlap, splitter }: Options,
  lengthFunction: (text: string) => number,
): Promise<string[]> {
  const fields = { chunkSize, chunkOverlap, lengthFunction };
  const package_ =
    splitter === 'recursive'
      ? new RecursiveCharacterTextSplitter(fields)
      : RecursiveCharacterTextSplitter.fromLanguage(splitter, fields);
  return package_.splitText(text);
}

const textsOf = async (text: string, options: Options): Promise<string[]> =>
  (await chunkLikeLangChain(text, options)).map((chunk) => chunk.text);

/** Expects the chunks of the package, but for those that only repeat the end of the one before, which may be left out. */
function expectSameChunks(made: readonly string[], chunks: readonly string[]): void {
  const expected: string[] = [];
  for (const [i, chunk] of chunks.entries())
    if (chunk === made[expected.length] || !chunks[i - 1]?.endsWith(chunk)) expected.push(chunk);
  expect(made).toEqual(expected);
}

const others = SPLITTERS.filter((splitter) => splitter !== 'quire');

describe('cutting a text as LangChain does', () => {
  test('knows all languages of the package', () => {
    expect([...others].sort()).toEqual([...SupportedTextSplitterLanguages, 'recursive'].sort());
  });

  test.each([
    ['markdown', 'README.md'],
    ['recursive', 'README.md'],
    ['recursive', 'LICENSE'],
    ['js', 'src/workers/chunking/chunk.ts'],
    ['python', 'test/fuzz/writers/word.py'],
    ['latex', 'docs/explanation/search.md'],
    ['html', 'docs/reference/api.md'],
  ] as const)('makes the chunks that the package makes: %s of %s', async (splitter, file) => {
    const text = readFileSync(file, 'utf8');
    for (const [size, overlap] of [
      [200, 40],
      [100, 20],
      [32, 0],
    ] as const) {
      const options = { size, overlap, splitter };
      const made = await textsOf(text, options);
      expectSameChunks(made, await splitByPackage(text, options, lengthByTiktoken));
      expect(made.length).toBeGreaterThan(1);
    }
  });

  const word = fc.constantFrom(
    'a',
    'bee',
    'seven',
    '##',
    '红军',
    '😀',
    'class',
    '12',
    '$',
    '\\section{',
    '<p>',
  );
  const gap = fc.constantFrom(' ', '  ', '\n', '\n\n', '\n## ', '\nclass ', '\t', '');
  const anyText = fc
    .array(fc.tuple(word, gap), { minLength: 1, maxLength: 120 })
    .map((pairs) => pairs.flat().join(''));
  const anyOptions = fc.record({
    size: fc.integer({ min: 16, max: 48 }),
    overlap: fc.integer({ min: 0, max: 15 }),
    splitter: fc.constantFrom(...others),
  });

  test('makes them of any text, without chunks that only repeat, and says where each stands', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, anyOptions, async (text, options) => {
        const chunks = await chunkLikeLangChain(text, options);
        let last = 0;
        for (const { text: own, start, end, overlap, tokenCount } of chunks) {
          expect(own).toBe(text.slice(start, end));
          expect(end).toBeGreaterThan(last);
          expect(overlap).toBe(Math.max(0, last - start));
          expect(tokenCount).toBe(countTokens(own));
          expect(tokenCount).toBeLessThanOrEqual(2 * options.size);
          // Nothing is left out but white space.
          expect(text.slice(last, start).trim()).toBe('');
          last = end;
        }
        expect(text.slice(last).trim()).toBe('');
        const ofPackage = await splitByPackage(text, options, countTokens);
        const isOrdinary = ofPackage.every(
          (each) => countTokens(each) <= 2 * options.size && each.isWellFormed(),
        );
        if (!isOrdinary) return;
        const made = chunks.map(({ text: own }) => own);
        const kept = ofPackage.filter((each, i) => i === 0 || ofPackage[i - 1]?.endsWith(each) !== true);
        expect(made.length).toBeLessThanOrEqual(ofPackage.length);
        for (const each of kept) expect(made).toContain(each);
      }),
      { numRuns: 200 },
    );
  });

  test('leaves texts that can be joined again, but for white space', async () => {
    const text = readFileSync('README.md', 'utf8');
    const chunks = await chunkLikeLangChain(text, { size: 60, overlap: 12, splitter: 'markdown' });
    const joined = chunks.map((chunk, i) => freshText(chunk, { isTrimmed: true, isFirst: i === 0 })).join('');
    expect(joined.split(/\s+/)).toEqual(text.trim().split(/\s+/));
  });

  test('begins a chunk with each part, and refuses too many', async () => {
    const options = { size: 64, overlap: 8, splitter: 'recursive' } as const;
    const chunks = await chunkLikeLangChain('one two three four', options, [4, 8]);
    expect(chunks.map(({ text }) => text)).toEqual(['one', 'two', 'three four']);
    const many = chunkLikeLangChain('one two three four', { ...options, maxChunks: 2 }, [4, 8]);
    await expect(many).rejects.toMatchObject({ code: 'too_large' });
  });

  test('cuts no character in two, and long runs in little time', async () => {
    const options = { size: 16, overlap: 4, splitter: 'recursive' } as const;
    for (const { text } of await chunkLikeLangChain('😀'.repeat(500), options))
      expect(text.isWellFormed()).toBe(true);
    const start = performance.now();
    expect((await chunkLikeLangChain('x'.repeat(300_000), { ...options, size: 512 })).length).toBeGreaterThan(
      20,
    );
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});

describe('the location of a chunk of LangChain', () => {
  const anyBlock = fc.record({
    words: fc.array(fc.constantFrom('rain', 'gauge', 'rain gauge', 'metre', 'of'), {
      minLength: 1,
      maxLength: 30,
    }),
    end: fc.constantFrom('\n', '\n\n', ' '),
  });

  test('is where the chunk is, also where the same words stand elsewhere', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyBlock, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 16, max: 40 }),
        async (blocks, size) => {
          const box = { x: 72, y: 72, width: 100, height: 12 };
          const collector = createBlockCollector();
          for (const [i, { words, end }] of blocks.entries()) {
            const place = { page: i + 1, boxes: [{ ...box, y: 72 + i }] };
            const block: Block = { text: `${words.join(' ')}${end}`, place };
            collector.add(block);
          }
          const extracted = collector.end();
          const options = { size, overlap: 8, splitter: 'recursive' } as const;
          const chunks = await chunkLikeLangChain(extracted.text, options);
          const located = [...locateChunks(extracted, chunks)];
          for (const [i, { start, end, text }] of chunks.entries()) {
            const pages = extracted.spans.filter((span) => span.start < end && span.end > start);
            const [first, last] = [pages[0]?.place?.page, pages.at(-1)?.place?.page];
            expect(located[i]?.location?.pages).toEqual({ first, last });
            const { location = null, spots = '' } = located[i] ?? {};
            expect(unpackSpots(spots).length).toBeLessThanOrEqual(pages.length);
            for (const span of pages) {
              const part = { start: Math.max(0, span.start - start), end: Math.min(span.end, end) - start };
              const place = placeOfPart({ text, location, spots }, part);
              expect(place.page).toBe(span.place?.page);
            }
          }
        },
      ),
      { numRuns: 100 },
    );
  });
});
