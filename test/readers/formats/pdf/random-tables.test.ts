import { describe, expect, test } from '@jest/globals';
import { parsePdf } from '../../../../src/readers/formats/pdf/pdf.js';
import { drawPdf, line } from '../../../support/drawn-pdf.js';
import { randomTable, seededRandom, TABLE_STYLES } from '../../../support/random-tables.js';
import { readBlocks } from '../../../support/read-blocks.js';

const EACH = 20;
const BEFORE =
  'What was found in the second quarter of the year, with the numbers of all parts, is shown below.';

describe('tables of a PDF whose texts, widths and numbers of rows a seed decides', () => {
  const seed = Number(process.env['QUIRE_TEST_SEED'] ?? 29);

  test.each(TABLE_STYLES)(
    `are read cell by cell where their lines are drawn as %s (seed ${String(seed)})`,
    async (style) => {
      const random = seededRandom(seed + 1_000 * TABLE_STYLES.indexOf(style));
      const tables = Array.from({ length: EACH }, () => randomTable(random, style));
      const pages = tables.map(({ content }) => ({ content: line(50, 750, BEFORE) + content, width: 900 }));
      const { blocks } = await readBlocks(parsePdf, drawPdf({ pages }));
      const read = tables.map((_, page) =>
        blocks
          .filter(({ row, place }) => row && place?.page === page + 1)
          .flatMap(({ text }) => text.trim().split('\n'))
          .filter((row) => !/^\|(?: --- \|)+$/.test(row))
          .map((row) =>
            row
              .slice(2, -2)
              .split(' | ')
              .map((cell) => cell.trim()),
          ),
      );
      expect(read).toEqual(tables.map(({ rows }) => rows));
    },
  );
});
