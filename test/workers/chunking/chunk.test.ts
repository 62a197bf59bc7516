import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { get_encoding } from 'tiktoken';
import { chunkText, type Chunk } from '../../../src/workers/chunking/chunk.js';

const tiktoken = get_encoding('cl100k_base');
const raw = (text: string): number => tiktoken.encode(text, [], []).length;
const joined = (chunks: readonly Chunk[]): string =>
  chunks.map(({ text, overlap }) => text.slice(overlap)).join('');
const usual = { size: 512, overlap: 64 };
const sentence = (subject: number): string =>
  `Sentence number ${String(subject)} tells of a thing that happened.`;
const paragraph = (subject: number): string =>
  Array.from({ length: 6 }, (_, index) => sentence(subject * 100 + index)).join(' ');

describe('cutting a text into chunks', () => {
  test('keeps a short text whole and trims it', () => {
    expect(chunkText('\n  A short text.  \n', usual)).toEqual([
      { text: 'A short text.', tokenCount: 4, overlap: 0, start: 3, end: 16 },
    ]);
  });

  test('makes no chunk of white space', () => {
    expect(chunkText(' \n\t \u3000\ufeff', usual)).toEqual([]);
    const chunks = chunkText(`start${'\n \t'.repeat(20_000)}end`, { size: 64, overlap: 8 });
    expect(chunks.every(({ text }) => text.trim() !== '')).toBe(true);
    expect(joined(chunks).replace(/\s+/g, ' ')).toBe('start end');
  });

  test('cuts at paragraphs, and begins the next chunk with whole sentences of the last', () => {
    const text = Array.from({ length: 40 }, (_, index) => paragraph(index)).join('\n\n');
    const chunks = chunkText(text, usual);
    expect(chunks.length).toBeGreaterThan(5);
    expect(joined(chunks)).toBe(text);
    for (const chunk of chunks.slice(0, -1)) expect(chunk.text.endsWith('happened.\n\n')).toBe(true);
    for (const chunk of chunks.slice(1)) {
      expect(chunk.text.startsWith('Sentence number')).toBe(true);
      expect(chunk.overlap).toBeGreaterThan(100);
      expect(raw(chunk.text.slice(0, chunk.overlap))).toBeLessThanOrEqual(65);
    }
  });

  test('cuts at sentences where a paragraph is too long, but not behind abbreviations', () => {
    const text = Array.from(
      { length: 200 },
      (_, index) => `Then Dr. Smith met Mr. Jones for time ${String(index)}.`,
    ).join(' ');
    const chunks = chunkText(text, usual);
    for (const chunk of chunks) expect(chunk.text).toMatch(/^Then Dr\. [^]*\d\.\s*$/);
  });

  test('cuts at sentences in a language without spaces', () => {
    const text = '红军作战的原则是集中兵力，打运动战。我们必须坚持下去！你同意吗？'.repeat(100);
    const chunks = chunkText(text, { size: 128, overlap: 32 });
    expect(joined(chunks)).toBe(text);
    for (const chunk of chunks) expect(chunk.text).toMatch(/^[红我你].*[。！？]$/u);
    expect(chunks.slice(1).every(({ overlap }) => overlap > 0)).toBe(true);
  });

  test('leaves a heading with the text below it', () => {
    const text = Array.from(
      { length: 30 },
      (_, index) => `## Part ${String(index)}\n\n${paragraph(index)}`,
    ).join('\n\n');
    for (const chunk of chunkText(text, usual)) expect(chunk.text.trimEnd()).not.toMatch(/## Part \d+$/);
  });

  test('tears no characters: combining marks, families, flags', () => {
    const text = 'e\u0301👩‍👩‍👧🇩🇪हि'.repeat(400);
    const whole = new Set(
      Array.from(new Intl.Segmenter().segment(text), ({ index }) => index).concat(text.length),
    );
    let position = 0;
    for (const chunk of chunkText(text, { size: 100, overlap: 10 })) {
      position += chunk.text.length - chunk.overlap;
      expect(whole.has(position)).toBe(true);
    }
  });

  test('holds its promises for any text and any sizes', () => {
    const word = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 20 }),
      fc.lorem({ maxCount: 30 }),
      fc.lorem({ maxCount: 3, mode: 'sentences' }),
      fc.constantFrom(
        '\n\n',
        ' ',
        '。',
        '！',
        '\r\n',
        '東京都に行きました',
        'x'.repeat(300),
        '🇩🇪🇫🇷',
        ' (',
        "'s",
      ),
    );
    fc.assert(
      fc.property(
        fc.array(word, { maxLength: 60 }),
        fc.integer({ min: 16, max: 200 }),
        fc.nat({ max: 200 }),
        (words, size, most) => {
          const text = words.join('');
          const chunks = chunkText(text, { size, overlap: Math.min(most, Math.floor(size / 2)) });
          expect(joined(chunks)).toBe(text.trim());
          let before = '';
          for (const chunk of chunks) {
            expect(raw(chunk.text)).toBeLessThanOrEqual(size);
            expect(Math.abs(raw(chunk.text) - chunk.tokenCount)).toBeLessThanOrEqual(
              Math.max(2, chunk.text.length / 100),
            );
            expect(chunk.text.trim()).not.toBe('');
            expect(chunk.text).not.toMatch(/\p{Surrogate}/u);
            expect(before.endsWith(chunk.text.slice(0, chunk.overlap))).toBe(true);
            before = chunk.text;
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  test('refuses a text of more chunks than allowed', () => {
    const text = Array.from({ length: 200 }, (_, index) => paragraph(index)).join('\n\n');
    expect(() => chunkText(text, { ...usual, maxChunks: 3 })).toThrow(
      expect.objectContaining({ code: 'too_large' }),
    );
  });
});
