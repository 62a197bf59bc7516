import { expect, test } from '@jest/globals';
import { createBlockCollector, locateChunks } from '../../../../src/workers/parse/extraction.js';
import { chunkText } from '../../../../src/workers/chunking/chunk.js';
import { readBlocks } from '../../../support/read-blocks.js';

/** The chunks of a file, and the lines that their locations name. */
async function chunksOf(file: string) {
  const collector = createBlockCollector();
  const { blocks } = await readBlocks('json', file);
  for (const block of blocks) collector.add(block);
  const extracted = collector.end();
  const chunks = chunkText(extracted.text, { size: 48, overlap: 0 });
  const lines = file.split('\n');
  return [...locateChunks(extracted, chunks)].map(({ location }, i) => ({
    text: chunks[i]?.text ?? '',
    span: location?.lines,
    source: lines.slice((location?.lines?.first ?? 1) - 1, location?.lines?.last).join('\n'),
  }));
}

test('chunks of JSON Lines name the lines of their records, and few others', async () => {
  const records = Array.from({ length: 300 }, (_, i) =>
    JSON.stringify({ name: `plum${String(i)}`, notes: { color: `blue${String(i)}` } }),
  );
  const chunks = await chunksOf(records.join('\n\n'));
  expect(chunks.length).toBeGreaterThan(20);
  for (const { text, source } of chunks) {
    const named = text.match(/(?:plum|blue)\d+/g) ?? [];
    for (const name of named) expect(source).toContain(name);
    expect(source.split('\n').length).toBeLessThanOrEqual(2 * named.length);
  }
});

test('chunks of a list over many lines name theirs', async () => {
  const list = Array.from({ length: 300 }, (_, i) => `fig${String(i)}`);
  const chunks = await chunksOf(JSON.stringify(list, null, 2));
  expect(chunks.length).toBeGreaterThan(10);
  for (const { text, source } of chunks) {
    const named = text.match(/fig\d+/g) ?? [];
    for (const name of named) expect(source).toContain(`"${name}"`);
    expect(source.split('\n').length).toBeLessThanOrEqual(named.length + 16);
  }
});

test('blank lines stand between records only, wherever blocks end', async () => {
  const nested = Array.from({ length: 40 }, (_, i) => `{"a": {"b": ${String(i)}}}`).join('\n');
  const [first] = await chunksOf(nested);
  expect(first?.text).toMatch(/^a: \n {2}b: 0\n\na: \n {2}b: 1\n\na: /);
});

test('a key before a value that is no JSON is read', async () => {
  const [first] = await chunksOf('{"time": 12:30, "note": "x"}');
  expect(first?.text).toContain('time: 12');
  expect(first?.text).toContain('30');
  expect(first?.text).toContain('note: x');
});

test('objects in the list of a value begin with a dash, those of a file with an empty line', async () => {
  const books = [{ title: 'Reiher', tags: ['a', 'b'] }, {}, { isbn: { de: 1 }, year: 2001 }];
  expect(
    (
      await readBlocks('json', [{ books }, { books: [] }].map((record) => JSON.stringify(record)).join('\n'))
    ).text
      .trimEnd()
      .split('\n'),
  ).toEqual([
    'books: ',
    '  - title: Reiher',
    '    tags: ',
    '      - a',
    '      - b',
    '  - isbn: ',
    '      de: 1',
    '    year: 2001',
    '',
    'books:',
  ]);
});

test.each([
  ['{"id":3,"text":"bro', 'id: 3\ntext: bro'],
  ['{"id":3,"text":', 'id: 3\ntext: '],
  ['{"id":3,"list":["a","b"', 'id: 3\nlist: \n  - a\n  - b'],
  ['}}]', ''],
  ['{"id":3 "text":"no comma"}}', 'no comma'],
  ['2026-03-01 10:00:05 worker died, restarting', '\n2026-03-01 10:00:05 worker died, restarting\n'],
  ["{'id': 3, 'text': 'a repr of Python'}", "'text': 'a repr of Python'"],
])('a broken line of JSON Lines costs that line alone: %s', async (broken, read) => {
  const whole = [1, 2, 4, 5].map((id) => JSON.stringify({ id, text: `text ${String(id)}` }));
  const { text, receipt } = await readBlocks(
    'json',
    [...whole.slice(0, 2), broken, ...whole.slice(2)].join('\n'),
  );
  for (const id of [1, 2, 4, 5]) expect(text).toContain(`id: ${String(id)}\ntext: text ${String(id)}`);
  expect(text).toContain(read);
  expect(receipt.gaps).toMatchObject([{ reason: 'unreadable', location: { lines: { first: 3, last: 3 } } }]);
});

test('lines of lists, and lines that a value goes over, are read as before', async () => {
  expect((await readBlocks('json', '["a","b"]\n["c"]\n')).text).toContain('- a\n- b\n- c');
  const pretty = JSON.stringify({ a: [{ b: 1 }, { b: 2 }] }, null, 2);
  const { text, receipt } = await readBlocks('json', pretty);
  expect(text).toBe('a: \n  - b: 1\n  - b: 2\n\n');
  expect(receipt.gap_count).toBe(0);
});
