import { describe, expect, test } from '@jest/globals';
import { createBuiltinCompleter } from '../../../../src/shared/adapters/builtin/completer.js';
import { countTokens } from '../../../../src/shared/text/token-count.js';
import { collect } from '../../../support/collect.js';

const completer = createBuiltinCompleter();

function passages(...texts: string[]) {
  return texts.map((text, index) => ({ documentId: `doc-${String(index)}`, chunkNumber: 7 + index, text }));
}

/** The sentences of an answer, without introduction and sources. */
function sentences(text: string): string[] {
  return text.split('\n\n')[1]?.split('\n') ?? [];
}

const borkum = passages(
  'Ferries to the island leave from Emden twice a day. Dogs travel free. The crossing takes two hours.',
  'The old lighthouse burnt down. The new lighthouse of Borkum is 60 metres tall. It was lit in 1879.',
);

describe('the built-in answer', () => {
  test('says what it is, gives the fitting sentence first and cites document and chunk', async () => {
    const { text } = await collect(
      completer.complete({ question: 'How tall is the new lighthouse of Borkum?', passages: borkum }),
    );
    expect(text).toMatch(/^Extracted from the documents \(no language model is configured\)/);
    expect(sentences(text)[0]).toBe('The new lighthouse of Borkum is 60 metres tall. [2]');
    expect(text).toMatch(/\[2\] document doc-1, chunk 8$/);
    expect(text).not.toContain('Dogs');
  });

  test.each([
    [
      'Wie hoch ist der Leuchtturm?',
      'Der Hafen ist klein. Der Leuchtturm ist 60 Meter hoch.',
      'Der Leuchtturm ist 60 Meter hoch.',
    ],
    ['灯塔有多高？', '港口很小。新灯塔高六十米。渡轮每天两班。', '新灯塔高六十米。'],
    [
      '灯台の高さは？',
      '港は小さい。新しい灯台の高さは60メートルです。船は一日二便。',
      '新しい灯台の高さは60メートルです。',
    ],
  ])('is found in any language: %s', async (question, text, expected) => {
    const answer = await collect(completer.complete({ question, passages: passages(text) }));
    expect(sentences(answer.text)[0]).toBe(`${expected} [1]`);
  });

  test('is a sentence that says more than was asked, and no heading', async () => {
    const text =
      'Borkum\n\n| | Island | Borkum |\n| 7 | Island | Borkum | 1879 |\n\nBorkum is an island of the north.';
    const found = await collect(
      completer.complete({ question: 'What is the island of Borkum?', passages: passages(text) }),
    );
    expect(sentences(found.text)).toEqual([
      '7 | Island | Borkum | 1879 [1]',
      'Borkum is an island of the north. [1]',
    ]);
    const known = await collect(
      completer.complete({ question: 'Is Borkum an island?', passages: passages('Borkum is an island.') }),
    );
    expect(sentences(known.text)).toEqual(['Borkum is an island. [1]']);
  });

  test('of no passages is followed by the way to find more, and of passages is not', async () => {
    const findMore = 'A model finds more.';
    const found = await collect(completer.complete({ question: 'Why?', passages: borkum }, { findMore }));
    expect(found.text).not.toContain(findMore);
    const nothing = await collect(completer.complete({ question: 'Why?', passages: [] }, { findMore }));
    expect(nothing.text).toMatch(/^Nothing was found in the documents[^.]*\.\n\nA model finds more\.$/);
    const cut = await collect(
      completer.complete({ question: 'Why?', passages: [] }, { findMore, maxTokens: 4 }),
    );
    expect(cut.text).toBe('Nothing was found in');
    const plain = await collect(completer.complete({ question: 'Why?', passages: [] }));
    expect(plain.text).toMatch(/question\.$/);
  });

  test('prefers an answer to a heading that asks the question', async () => {
    const text =
      'How do I reset my password?\n\nTo reset the password, open the settings and choose Security.';
    const answer = await collect(
      completer.complete({ question: 'How do I reset my password?', passages: passages(text) }),
    );
    expect(sentences(answer.text)[0]).toMatch(/^To reset the password/);
  });

  test('gives a sentence that neighbouring chunks repeat once', async () => {
    const text = 'The lighthouse is 60 metres tall.';
    const answer = await collect(
      completer.complete({ question: 'lighthouse tall', passages: passages(text, `${text} Other things.`) }),
    );
    expect(sentences(answer.text).filter((sentence) => sentence.startsWith(text))).toHaveLength(1);
  });

  test('falls back on the best passage when no word is shared', async () => {
    const answer = await collect(completer.complete({ question: 'zzz qqq', passages: borkum }));
    expect(sentences(answer.text)).toEqual(['Ferries to the island leave from Emden twice a day. [1]']);
  });

  test('is the same each time, and its tokens are those of its text', async () => {
    const prompt = { question: 'How tall is the lighthouse?', passages: borkum };
    const [first, second] = [
      await collect(completer.complete(prompt)),
      await collect(completer.complete(prompt)),
    ];
    expect(second).toEqual(first);
    expect(first.end.completionTokens).toBe(countTokens(first.text));
  });

  test('cut by tokens ends in a whole character', async () => {
    const prompt = { question: '灯塔有多高？', passages: passages('新灯塔𠮷𠮷𠮷高六十米👩‍👩‍👧。') };
    const whole = await collect(completer.complete(prompt));
    for (let maxTokens = 1; maxTokens < whole.end.completionTokens; maxTokens += 1) {
      const { text, end } = await collect(completer.complete(prompt, { maxTokens }));
      expect(whole.text.startsWith(text)).toBe(true);
      expect(text).not.toMatch(/[\ud800-\udbff]$/);
      expect(end).toMatchObject({ finishReason: 'length', completionTokens: countTokens(text) });
      expect(end.completionTokens).toBeLessThanOrEqual(maxTokens);
    }
  });

  test('over hundreds of passages does not hold up the process', async () => {
    const filler = 'Plain sentences about the weather at sea, and about ships that pass. '.repeat(30);
    const many = passages(...Array.from({ length: 600 }, (_, index) => `${filler} Number ${String(index)}.`));
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    const { text } = await collect(completer.complete({ question: 'Which is number 417?', passages: many }));
    clearInterval(timer);
    expect(text).toContain('Number 417.');
    // Without pauses no timer would have had a turn before the end.
    expect(turns).toBeGreaterThan(3);
  });
});
