import { expect, test } from '@jest/globals';
import { parsePdf } from '../../../../src/readers/formats/pdf/pdf.js';
import { drawPdf, FIRST_OBJECT, line } from '../../../support/drawn-pdf.js';
import { readBlocks } from '../../../support/read-blocks.js';

test('a PDF that is encrypted for certificates or in an unknown way is called encrypted', async () => {
  for (const handler of ['/Filter/Adobe.PubSec/V 4/SubFilter/adbe.pkcs7.s5', '/Filter/Standard/V 9/R 9']) {
    const objects = [`<<${handler}/Length 128/O(${'o'.repeat(32)})/U(${'u'.repeat(32)})/P -4>>`];
    const plain = drawPdf({ pages: [{ content: line(60, 700, 'secret') }], objects }).toString('latin1');
    const entries = `trailer<</Encrypt ${String(FIRST_OBJECT)} 0 R/ID[<00112233445566778899aabbccddeeff><00112233445566778899aabbccddeeff>]`;
    const bytes = Buffer.from(plain.replace('trailer<<', entries), 'latin1');
    await expect(readBlocks(parsePdf, bytes)).rejects.toMatchObject({
      code: 'encrypted',
      message: expect.stringContaining('PDF') as unknown,
    });
  }
});
