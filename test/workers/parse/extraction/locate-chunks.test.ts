import { describe, expect, test } from '@jest/globals';
import { chunkText } from '../../../../src/workers/chunking/chunk.js';
import { unpackSpots } from '../../../../src/shared/chunks/spots.js';
import type { Block } from '../../../../src/readers/blocks/block.js';
import { createBlockCollector, locateChunks } from '../../../../src/workers/parse/extraction.js';

const box = { x: 72, y: 72, width: 100, height: 12 };

function locate(blocks: readonly Block[], size = 24) {
  const collector = createBlockCollector();
  for (const block of blocks) collector.add(block);
  const extracted = collector.end();
  const chunks = chunkText(extracted.text, { size, overlap: 0 }, extracted.layout);
  return [...locateChunks(extracted, chunks)].map((located, i) => ({
    ...located,
    text: chunks[i]?.text.trim() ?? '',
  }));
}

const sentences = (count: number) => 'One more sentence. '.repeat(count);

describe('the location of a chunk', () => {
  test('spans the pages of its text, with their boxes', () => {
    const box = { x: 72, y: 72, width: 100, height: 12 };
    const [only] = locate([
      { text: 'Page three. ', place: { page: 3, boxes: [box] } },
      { text: 'Page four.', place: { page: 4, boxes: [{ ...box, y: 20 }] } },
    ]);
    expect(only?.location).toEqual({
      pages: { first: 3, last: 4 },
      boxes: [
        { page: 3, ...box },
        { page: 4, ...box, y: 20 },
      ],
    });
  });

  test('tells the place of each of its parts: lines of pages, rows, slides and lines', () => {
    const lines = [box, { ...box, y: 90 }, { ...box, y: 108 }];
    const long = 'The first line of it \nand the second line \nand the third.\n\n';
    const starts = [0, long.indexOf('and the s'), long.indexOf('and the t')];
    const [only] = locate(
      [
        {
          text: long,
          place: { page: 1, boxes: [{ ...box, height: 48 }] },
          lines: lines.map((each, i) => ({ start: starts[i] ?? 0, box: each })),
        },
        { text: 'Alone.', place: { page: 2, boxes: [box] } },
      ],
      200,
    );
    expect(unpackSpots(only?.spots)).toEqual([
      ...lines.map((each, i) => ({ start: starts[i], number: 1, box: each })),
      { start: long.length, number: 2, box },
    ]);

    const rows = locate([
      { text: 'a 1\n', place: { sheet: 'Costs', row: 2 }, row: { header: '' } },
      { text: 'b 2\n', place: { row: 9 }, row: { header: '' } },
    ]);
    expect(unpackSpots(rows[0]?.spots)).toEqual([
      { start: 0, number: 2 },
      { start: 4, number: 9 },
    ]);
  });

  test('keeps the lines of a page apart where a chunk begins within a paragraph, and where controls were removed', () => {
    const words = sentences(12);
    const text = `\u0007${words}\n${words}`;
    const lines = [0, words.length + 2].map((start, i) => ({ start, box: { ...box, y: 100 * (i + 1) } }));
    const found = locate([{ text, place: { page: 5, boxes: [box] }, lines }], 24);
    expect(found.length).toBeGreaterThan(3);
    for (const { spots } of found) expect(unpackSpots(spots)[0]).toMatchObject({ start: 0, number: 5 });
    expect(unpackSpots(found[0]?.spots)).toEqual([{ start: 0, number: 5, box: lines[0]?.box }]);
    expect(unpackSpots(found.at(-1)?.spots)).toEqual([{ start: 0, number: 5, box: lines[1]?.box }]);
  });

  test('has a bounded number of boxes', () => {
    const box = { x: 1, y: 2, width: 3, height: 4 };
    const blocks = Array.from({ length: 40 }, () => ({ text: 'a ', place: { page: 1, boxes: [box] } }));
    expect(locate(blocks, 2048)[0]?.location?.boxes).toHaveLength(32);
  });

  test('names sheet and rows, slide, chapter and message', () => {
    expect(
      locate([
        { text: 'a', place: { sheet: 'Costs', row: 2 } },
        { text: 'b', place: { row: 9 } },
      ]),
    ).toMatchObject([{ location: { sheet: 'Costs', rows: { first: 2, last: 9 } } }]);
    const places = [{ slide: 7 }, { chapter: 'The End' }, { message: 12 }];
    const found = locate(places.map((place): Block => ({ text: 'text\n', place, isPart: true })));
    expect(found.map(({ location }) => location)).toEqual([
      { slides: { first: 7, last: 7 } },
      { chapter: 'The End' },
      { message: 12 },
    ]);
  });

  test('counts the lines of a text from the first line of each block', () => {
    const text = Array.from({ length: 60 }, (_, n) => `line ${String(n + 1)} of it\n`).join('');
    for (const blocks of [
      [{ text, place: { line: 1 } }],
      [
        { text: text.slice(0, text.indexOf('line 21 ')), place: { line: 1 } },
        { text: text.slice(text.indexOf('line 21 ')), place: { line: 21 } },
      ],
    ])
      for (const { text: chunk, location } of locate(blocks)) {
        const numbers = Array.from(chunk.matchAll(/line (\d+)/g), ([, number]) => Number(number));
        expect(location?.lines).toEqual({ first: numbers[0], last: numbers.at(-1) });
      }
  });

  test('is null where the format does not tell', () => {
    expect(locate([{ text: 'text' }])[0]?.location).toBeNull();
  });
});

describe('the section of a chunk', () => {
  const blocks: Block[] = [
    { text: 'Preface without a heading.\n\n' },
    { text: 'Methods\n\n', heading: 1 },
    { text: `${sentences(6)}\n\n` },
    { text: 'Data\n\n', heading: 2 },
    { text: `${sentences(6)}\n\n` },
    { text: 'Results\n\n', heading: 1 },
    { text: `${sentences(6)}\n\n` },
  ];

  test('is the path of the headings over it, until one of the same level', () => {
    const sections = locate(blocks).map(({ section }) => section.join(' > '));
    expect(sections[0]).toBe('');
    expect(new Set(sections)).toEqual(new Set(['', 'Methods', 'Methods > Data', 'Results']));
  });

  test('ends with its part', () => {
    const found = locate([...blocks, { text: 'Next sheet', isPart: true }]);
    expect(found.at(-1)).toMatchObject({ section: [], text: 'Next sheet' });
  });

  test('loses the marks of Markdown, and is bounded', () => {
    const [found] = locate([{ text: `## ${'Long '.repeat(200)}##\n`, heading: 2 }, { text: 'text' }], 2048);
    expect(found?.section[0]).toMatch(/^Long Long/);
    expect(found?.section[0]).toHaveLength(200);
    const levels = Array.from({ length: 9 }, (_, at) => ({ text: `H${String(at)}\n`, heading: at + 1 }));
    const [deep] = locate([...levels, { text: 'text' }], 2048);
    expect(deep?.section).toEqual(['H0', 'H1', 'H2', 'H3', 'H4', 'H5', 'H6', 'H8']);
  });
});

test('a long document of one line is located in time that grows with its length', () => {
  const started = process.cpuUsage();
  locate([{ text: 'word '.repeat(200_000), place: { line: 1 } }], 64);
  expect(process.cpuUsage(started).user / 1e6).toBeLessThan(10);
});

test('names of sheets and chapters are cut, and impossible numbers of rows and pages are left out', () => {
  const long = 'x'.repeat(1_000_000);
  const [found] = locate([
    { text: 'a ', place: { sheet: long, row: 0, page: Number.NaN } },
    { text: 'b', place: { chapter: long, row: -4 } },
  ]);
  expect(found?.location).toEqual({ sheet: 'x'.repeat(200), chapter: 'x'.repeat(200) });
});
