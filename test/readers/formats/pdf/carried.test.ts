import { describe, expect, test } from '@jest/globals';
import { parsePdf } from '../../../../src/readers/formats/pdf/pdf.js';
import { drawPdf, FIRST_OBJECT, line, stream } from '../../../support/drawn-pdf.js';
import { readBlocks } from '../../../support/read-blocks.js';

const READERS = [{}, { avoidsNativeCode: true }];
const reference = (index: number): string => `${String(FIRST_OBJECT + index)} 0 R`;
const page = (...annotations: string[]) => ({
  content: line(72, 700, 'The contract ends in May.'),
  entries: `/Annots[${annotations.join(' ')}]`,
});
const note = (kind: string, contents: string, entries = ''): string =>
  `<</Type/Annot/Subtype/${kind}/Rect[300 690 322 712]/Contents(${contents})${entries}>>`;

describe('what a PDF carries beside its text', () => {
  test('has notes that are stuck onto pages read as comments, replies and words about marks too', async () => {
    const quads = '/QuadPoints[72 710 200 710 72 690 200 690]';
    const objects = [
      note('Text', 'Ask Zelda about May'),
      note('Text', 'Zelda says June', `/IRT ${reference(0)}`),
      note('Highlight', 'too early', quads),
      note('Popup', 'Ask Zelda about May', `/Parent ${reference(0)}`),
      note('Text', 'nobody sees this', '/F 2'),
      note('Text', 'Accepted set by Zelda', `/IRT ${reference(0)}/StateModel(Review)/State(Accepted)`),
    ];
    const file = drawPdf({ pages: [page(...objects.map((_, index) => reference(index)))], objects });
    for (const options of READERS) {
      const { text, blocks } = await readBlocks(parsePdf, file, options);
      expect(text.split(/\n+/).filter((each) => each !== '')).toEqual([
        'The contract ends in May.',
        'Comment: Ask Zelda about May',
        'Comment: Zelda says June',
        'Comment: too early',
      ]);
      expect(blocks[1]?.place).toEqual({ page: 1, boxes: [{ x: 300, y: 80, width: 22, height: 22 }] });
    }
  });

  test.each([
    ['more notes', Array.from({ length: 501 }, (_, index) => note('Text', `Note ${String(index)}`))],
    ['a longer note', [note('Text', 'x'.repeat(20_001))]],
  ])('has %s on a page than are read named', async (_, objects) => {
    const file = drawPdf({ pages: [page(...objects.map((__, index) => reference(index)))], objects });
    for (const options of READERS)
      expect((await readBlocks(parsePdf, file, options)).gaps).toEqual([
        'limit: Not all notes on the page were read.',
      ]);
  });

  test('has its files named where attachments are not read, those that hang on pages too, each once', async () => {
    const spec = (name: string, index: number) =>
      `<</Type/Filespec/F(${name})/UF(${name})/EF<</F ${reference(index)}>>>>`;
    const objects = [
      stream('/Type/EmbeddedFile', Buffer.from('a,b\n1,2\n')),
      stream('/Type/EmbeddedFile', Buffer.from('Some more words')),
      spec('figures.csv', 0),
      spec('more.txt', 1),
      `<</Type/Annot/Subtype/FileAttachment/Rect[300 690 320 710]/FS ${reference(3)}>>`,
      `<</Type/Annot/Subtype/FileAttachment/Rect[330 690 350 710]/FS ${reference(2)}>>`,
    ];
    const catalog = `/Names<</EmbeddedFiles<</Names[(figures.csv) ${reference(2)}]>>>>`;
    const file = drawPdf({ pages: [page(reference(4), reference(5))], objects, catalog });
    for (const options of READERS) {
      const { receipt, gaps } = await readBlocks(parsePdf, file, options);
      expect(receipt.attachments.map((each) => [each.filename, each.content_type])).toEqual(
        expect.arrayContaining([
          ['figures.csv', 'text/csv'],
          ['more.txt', 'text/plain'],
        ]),
      );
      expect(receipt.attachments).toHaveLength(2);
      expect(gaps).toContain(
        'skipped: The attachment more.txt is not read: The setting ingest.attachments is off.',
      );
    }
  });
});
