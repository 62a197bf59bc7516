import { expect, test } from '@jest/globals';
import { box, cell, file, frame, sheet, slide } from '../../../../support/open-document-looks.js';
import { readBlocks } from '../../../../support/read-blocks.js';

test.each(['ods', 'odp'] as const)('%s keeps right-to-left and East Asian text as it is', async (format) => {
  const texts = ['مرحبا بالعالم', 'שלום עולם', '縦書きの文書', '你好，世界', '안녕하세요'];
  const body =
    format === 'ods'
      ? sheet(texts.map((text) => cell(text)).join(''))
      : slide(
          texts
            .map((text, index) =>
              frame(`<draw:text-box><text:p>${text}</text:p></draw:text-box>`, box(index)),
            )
            .join(''),
        );
  const { text } = await readBlocks(format, file(format, { body }));
  for (const phrase of texts) expect(text).toContain(phrase);
});
