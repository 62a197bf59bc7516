import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { drawPdf } from '../../support/drawn-pdf.js';
import { scan } from '../../support/scans.js';
import { until } from '../../support/until.js';
import { parserChildren, useParserPool } from '../../support/use-parser-pool.js';

const { startPool, file } = useParserPool();
const script = fileURLToPath(new URL('../../support/raw-parser.mjs', import.meta.url));

test.each([
  ['writes without end', 'endless'],
  ['writes a message', '{"type":"failed","id":2,"code":"no_text","message":"","residentBytes":1}\n'],
  ['writes what is no message', 'anything\n'],
])(
  'a parser that %s while it has no document is ended, and the next document does not meet it',
  async (_name, said) => {
    const parser = startPool({ script, timeoutMilliseconds: 5_000 });
    await expect(parser.parse({ text: `late ${said}`, format: 'text' })).rejects.toMatchObject({
      code: 'no_text',
    });
    const [first] = parserChildren('raw-parser.mjs');
    await until(() => !parserChildren('raw-parser.mjs').includes(first ?? 0));
    await expect(parser.parse({ text: 'late ', format: 'text' })).rejects.toMatchObject({ code: 'no_text' });
  },
);

test.each([
  ['a PDF', 'pdf', () => drawPdf({ pages: [{ content: 'BT/F1 12 Tf 60 700 Td(A heron.)Tj ET' }] })],
  ['a picture', 'png', async () => (await scan(150)).png],
] as const)(
  'no document of another caller is read by the process that has read %s',
  async (_name, format, bytes) => {
    const parser = startPool();
    const read = async (callerId: string, what?: 'file'): Promise<number | undefined> => {
      if (what) await parser.parse({ path: await file(await bytes()), format, callerId });
      else await parser.parse({ text: 'Reeds.', format: 'text', callerId });
      const [process, ...others] = parserChildren();
      expect(others).toEqual([]);
      return process;
    };
    const clean = await read('ada');
    expect(await read('bob')).toBe(clean);
    expect(await read('ada', 'file')).toBe(clean);
    expect(await read('ada')).toBe(clean);
    const other = await read('bob');
    expect(other).not.toBe(clean);
    expect(await read('bob', 'file')).toBe(other);
    expect(await read('ada', 'file')).not.toBe(other);
  },
  60_000,
);

test('pages of another file are not rendered by the process that has rendered a page', async () => {
  const parser = startPool();
  const render = async (content: string) => {
    const path = await file(drawPdf({ pages: [{ content: 'BT/F1 12 Tf 60 700 Td(A heron.)Tj ET' }] }));
    await parser.render({ path, page: 1, content, boxes: [], callerId: 'ada' });
    return parserChildren()[0];
  };
  const first = await render('one');
  expect(await render('one')).toBe(first);
  expect(await render('two')).not.toBe(first);
});

test('each caller gets the process that has read its files', async () => {
  const parser = startPool({ size: 2 });
  const path = () => file(drawPdf({ pages: [{ content: 'BT/F1 12 Tf 60 700 Td(A heron.)Tj ET' }] }));
  const read = async (callerId: string) => parser.parse({ path: await path(), format: 'pdf', callerId });
  await Promise.all([read('ada'), read('bob')]);
  const both = parserChildren().toSorted();
  for (const callerId of ['ada', 'bob', 'bob', 'ada', 'ada', 'bob']) await read(callerId);
  expect(parserChildren().toSorted()).toEqual(both);
});
