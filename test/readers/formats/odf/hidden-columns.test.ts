import { expect, test } from '@jest/globals';
import { strToU8, zipSync } from 'fflate';
import { processorMilliseconds } from '../../../support/processor-time.js';
import { readBlocks } from '../../../support/read-blocks.js';

const SPACES =
  'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"';

function sheetWith(hiddenColumns: number): Uint8Array {
  const columns =
    '<table:table-column table:number-columns-repeated="16000"/>' +
    '<table:table-column table:visibility="collapse"/>'.repeat(hiddenColumns);
  const rows = `<table:table-row>${'<table:table-cell/>'.repeat(2_000)}</table:table-row>`.repeat(20);
  const last = '<table:table-row><table:table-cell><text:p>x</text:p></table:table-cell></table:table-row>';
  return zipSync({
    mimetype: strToU8('application/vnd.oasis.opendocument.spreadsheet'),
    'content.xml': strToU8(
      `<office:document-content ${SPACES}><office:body><office:spreadsheet><table:table table:name="a">${columns}${rows}${last}</table:table></office:spreadsheet></office:body></office:document-content>`,
    ),
  });
}

async function timeOf(file: Uint8Array): Promise<number> {
  const started = processorMilliseconds();
  await readBlocks('ods', file);
  return processorMilliseconds() - started;
}

test('many hidden columns do not slow down each cell', async () => {
  const few = await timeOf(sheetWith(100));
  const many = await timeOf(sheetWith(100_000));
  // Reading the columns themselves takes some time, too.
  expect(many).toBeLessThan(few + 5_000);
}, 60_000);
