import { describe, expect, test } from '@jest/globals';
import { findSupport } from '../../../src/shared/models/support.js';

const TOWER =
  'The lighthouse of Borkum was built in 1879. It is 60 metres tall, and\nstands at the western end of the island.';
const FERRY = 'Ferries leave from Emden twice a day. A crossing takes 130 minutes.';
const FOOD = 'Tea with cream and rock candy is served everywhere.';

async function quoted(answer: string, passages = [TOWER, FERRY, FOOD]) {
  const { quotes, unsupported } = await findSupport(answer, passages);
  return {
    quotes: quotes.map(({ passage, start, end }) => [passage, passages[passage]?.slice(start, end)]),
    unsupported,
  };
}

describe('the sentences of an answer', () => {
  test('are found in the passages that they cite, word by word as the passage has them', async () => {
    expect(
      await quoted(
        'Borkum has a lighthouse that is 60 metres tall [1]. The crossing from Emden takes 130 minutes [2].',
      ),
    ).toEqual({
      quotes: [
        [0, 'The lighthouse of Borkum was built in 1879.'],
        [0, 'It is 60 metres tall, and\nstands at the western end of the island.'],
        [1, 'Ferries leave from Emden twice a day.'],
        [1, 'A crossing takes 130 minutes.'],
      ],
      unsupported: [],
    });
  });

  test('that no passage supports are listed', async () => {
    expect(
      await quoted('Ferries leave from Emden twice a day [2]. The captain is called Wilhelmina Jansen [2].'),
    ).toEqual({
      quotes: [[1, 'Ferries leave from Emden twice a day.']],
      unsupported: ['The captain is called Wilhelmina Jansen [2].'],
    });
  });

  test('need their numbers in the passages', async () => {
    expect((await quoted('The lighthouse of Borkum was built in 1897 [1].')).unsupported).toHaveLength(1);
    expect((await quoted('The lighthouse of Borkum was built in 1879 [1].')).unsupported).toEqual([]);
  });

  test('are found elsewhere where they cite another passage, or none', async () => {
    for (const answer of [
      'Tea is served with cream and rock candy [1].',
      'Tea is served with cream and rock candy.',
    ])
      expect(await quoted(answer)).toEqual({ quotes: [[2, FOOD]], unsupported: [] });
  });

  test('may be cited after their full stop, in several ways', async () => {
    for (const citation of ['[3]', '[1, 3]', '[1-3]', '【3】', '【3†tea.txt】'])
      expect(await quoted(`Tea is served with cream and rock candy. ${citation} Yes.`)).toEqual({
        quotes: [[2, FOOD]],
        unsupported: [],
      });
  });

  test('are items of a list as well', async () => {
    const answer =
      'In short:\n\n1. Ferries leave Emden twice a day. [2]\n2. **Tea** is served with rock candy. [3]\n';
    expect(await quoted(answer)).toEqual({
      quotes: [
        [1, 'Ferries leave from Emden twice a day.'],
        [2, FOOD],
      ],
      unsupported: [],
    });
  });

  test('of Chinese are found, too', async () => {
    const passages = ['灯塔高六十米。它位于岛的西端。', '渡轮每天从埃姆登出发两次。'];
    expect(await quoted('渡轮每天出发两次[2]。', passages)).toEqual({
      quotes: [[1, '渡轮每天从埃姆登出发两次。']],
      unsupported: [],
    });
  });
});

const claim = 'Ferries leave Emden twice a day';
const sentence = 'Ferries leave from Emden twice a day.';

describe('of several passages with the same sentence', () => {
  const passages = [`${sentence} One.`, `${sentence} Two.`, `${sentence} Three.`, `${sentence} Four.`];
  test.each([
    ['the first is quoted where none is cited', `${claim}.`, 0],
    ['the cited one is quoted', `${claim} [3].`, 2],
    ['the earlier of the cited ones is quoted', `${claim} [4, 2].`, 1],
    ['a citation behind the full stop counts', `${claim}. [3] And so on.`, 2],
    ['as do several', `${claim}.[4] [3]`, 2],
    ['a citation before the sentence counts, where nothing is before it', `[2] ${claim}.`, 1],
    ['and else belongs to what is before it', `Tea is hot. [3] ${claim} [4].`, 3],
    ['a range is cited as a whole', `${claim} [3-4].`, 2],
    ['a range without an end, from passage 0 or backwards is none', `${claim} [4-2].`, 0],
    ['a passage that is not there is none', `${claim} [9].`, 0],
    ['names of files may follow the number', `${claim}【3†ferries.txt】.`, 2],
    ['the number of a list item is no citation', `3. ${claim} [2].`, 1],
  ])('%s', async (_, answer, passage) => {
    const { quotes, unsupported } = await quoted(answer, passages);
    expect(quotes).toContainEqual([passage, sentence]);
    expect(quotes.filter(([, text]) => text === sentence)).toHaveLength(1);
    expect(unsupported.filter((text) => text.includes('Ferries'))).toEqual([]);
  });
});

// Words that no text holds weigh 1 each.
const [A, B, C, D, E, F] = ['Zorblax', 'Quimbo', 'Fnarg', 'Wexil', 'Pludor', 'Drazit'] as const;

describe('a sentence', () => {
  test.each([
    ['is supported by half of its weight', `${A} ${B}.`, [`${A}.`], [`${A}.`]],
    ['is not supported by less', `${A} ${B} ${C}.`, [`${A}.`], []],
    ['needs a word that could be looked up', `It was so.`, [`${A}.`], null],
    [
      'is quoted from the shortest of equal sentences',
      `${A} ${B}.`,
      [`${A} ${B} ${C}. ${A} ${B}.`],
      [`${A} ${B}.`],
    ],
    ['is quoted from the first of the same', `${A}.`, [`${A}. ${B}. ${A}.`], [`${A}.`]],
    ['is quoted from what holds more of it', `${A} ${B}.`, [`${A}. ${A} ${B} ${C}.`], [`${A} ${B} ${C}.`]],
    [
      'is quoted from three sentences at most',
      `${A} ${B} ${C} ${D}.`,
      [`${A}. ${B}. ${C}. ${D}.`],
      [`${B}.`, `${C}.`, `${D}.`],
    ],
    [
      'is quoted from a further sentence for a fifth of its weight',
      `${A} ${B} ${C} ${D} ${E}.`,
      [`${A} ${B} ${C} ${D}.`, `${E}.`],
      [`${A} ${B} ${C} ${D}.`, `${E}.`],
    ],
    [
      'and not for less',
      `${A} ${B} ${C} ${D} ${E} ${F}.`,
      [`${A} ${B} ${C} ${D} ${E}.`, `${F}.`],
      [`${A} ${B} ${C} ${D} ${E}.`],
    ],
    ['needs its numbers as they are written', `${A} 1,000.`, [`${A} 1000.`], []],
    [
      'may have its numbers in another sentence of the passage',
      `${A} 1,000.5.`,
      [`${A}. ${B} 1,000.5`],
      [`${A}.`, `${B} 1,000.5`],
    ],
    ['may have its numbers in another passage', `${A} 12:30.`, [`${A}.`, '12:30'], [`${A}.`, '12:30']],
  ])('%s', async (_, answer, passages, expected) => {
    const { quotes, unsupported } = await quoted(answer, passages);
    expect(quotes.map(([, text]) => text)).toEqual(expected ?? []);
    expect(unsupported).toEqual(expected?.length === 0 ? [answer] : []);
  });

  test('may have its numbers in a passage that it does not cite', async () => {
    expect((await quoted(`${A} 7 [1].`, [`${A}.`, '7.'])).unsupported).toEqual([]);
  });

  test('is quoted once where several of the answer need it', async () => {
    expect((await quoted(`${A} ${B}. ${B} ${A}.`, [`${A} ${B}.`])).quotes).toEqual([[0, `${A} ${B}.`]]);
  });
});

test('an answer and passages without text give nothing', async () => {
  expect(await quoted('', [])).toEqual({ quotes: [], unsupported: [] });
  expect(await quoted('[1] [2]', ['', ' '])).toEqual({ quotes: [], unsupported: [] });
});
