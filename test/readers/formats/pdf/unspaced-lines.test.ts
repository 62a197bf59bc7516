import { describe, expect, test } from '@jest/globals';
import { toPieces } from '../../../../src/readers/formats/pages/native-pieces.js';
import { parsePdf } from '../../../../src/readers/formats/pdf/pdf.js';
import { drawPdf, FIRST_OBJECT } from '../../../support/drawn-pdf.js';
import { japaneseFont, koreanFont, wideLine } from '../../../support/japanese-text.js';
import { readBlocks } from '../../../support/read-blocks.js';

const read = async (content: string, objects = japaneseFont('H')) => {
  const fonts = `/F9 ${String(FIRST_OBJECT)} 0 R`;
  return (await readBlocks(parsePdf, drawPdf({ pages: [{ content, fonts }], objects }))).text.trim();
};

const below = (x: number, top: number, texts: readonly string[]): string =>
  texts.map((text, index) => wideLine(x, top - 14 * index, text)).join('');

const across = (heights: readonly number[], from: number, to: number): string =>
  heights.map((y) => `${String(from)} ${String(y)} m ${String(to)} ${String(y)} l S\n`).join('');
const down = (places: readonly number[], from: number, to: number): string =>
  places.map((x) => `${String(x)} ${String(from)} m ${String(x)} ${String(to)} l S\n`).join('');

describe('lines of Chinese and Japanese in a PDF', () => {
  test('are one text where they were broken for want of room, with nothing between their characters', async () => {
    const lines = [
      '昔々あるところにお爺さんとチョコレートケ',
      'ーキが大好きなお婆さんが住んでいました。',
      '二人は川へ行った。',
    ];
    expect(await read(below(72, 700, lines))).toBe(lines.join(''));
  });

  test('stay lines where what follows had room, as those of an address or a list have', async () => {
    const lines = ['東京都千代田区', '丸の内一丁目九番一号', '株式会社見本', '営業部'];
    expect(await read(below(72, 700, lines))).toBe(lines.join('\n'));
  });

  test('stay lines in a list of contents', async () => {
    const lines = ['山へ行く日の話…………………１', '（春の日の出来事）', '川で洗濯をする話………………１２'];
    expect(await read(below(72, 700, lines))).toBe(lines.join('\n'));
  });

  test('are one text in a cell, and two where there was room', async () => {
    const rules = across([700, 670, 640], 72, 220) + down([72, 102, 220], 640, 700);
    const cells = [
      below(75, 690, ['ケー', 'キ']),
      below(105, 690, ['小麦粉と卵を混ぜて焼', 'いた菓子。']),
      below(75, 660, ['寿司']),
      below(105, 660, ['酢飯の料理', '魚の料理']),
    ];
    expect(await read(rules + cells.join(''))).toContain(
      '| ケーキ | 小麦粉と卵を混ぜて焼いた菓子。 |\n| --- | --- |\n| 寿司 | 酢飯の料理 魚の料理 |',
    );
  });

  test('stand each in its cell where a line alone parts them, also in rows of many lines', async () => {
    const rules = across([700, 680, 580], 72, 272) + down([72, 172, 272], 580, 700);
    const left = ['東の山には雪が積もる', '春になると雪が溶けて', '川の水が増え始める。'];
    const right = ['西の海では魚が獲れる', '夏の夜は漁火が見えて', '遠くの町から人が来る'];
    const both = left.map((text, index) => wideLine(72, 668 - 14 * index, text + (right[index] ?? '')));
    const content = rules + wideLine(75, 686, '山') + wideLine(175, 686, '海') + both.join('');
    expect(await read(content)).toContain(
      `| 山 | 海 |\n| --- | --- |\n| ${left.join('')} | ${right.join('')} |`,
    );
  });

  test('have no spaces between their characters, long vowels among them', () => {
    const item = { x: 0, y: 0, width: 100, height: 10, rotation: 0, fontHeight: 8 };
    const texts = toPieces([{ ...item, text: 'ケ ー キ と 、 お茶 Tee ３' }]).map(({ text }) => text);
    expect(texts).toEqual(['ケーキと、お茶 Tee ３']);
  });

  test('keep the spaces of Korean at their ends', async () => {
    const rules = across([700, 660, 620], 72, 220) + down([72, 132, 220], 620, 700);
    const cells = [
      below(75, 690, ['이름']),
      below(135, 690, ['작은 마을에', '살고 있다']),
      below(75, 650, ['강']),
      below(135, 650, ['물이 맑다']),
    ];
    expect(await read(rules + cells.join(''), koreanFont)).toContain('| 이름 | 작은 마을에 살고 있다 |');
  });
});
