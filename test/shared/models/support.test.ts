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

test('an answer and passages without text give nothing', async () => {
  expect(await quoted('', [])).toEqual({ quotes: [], unsupported: [] });
  expect(await quoted('[1] [2]', ['', ' '])).toEqual({ quotes: [], unsupported: [] });
});
