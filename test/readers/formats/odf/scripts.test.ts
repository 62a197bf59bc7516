import { expect, test } from '@jest/globals';
import { box, cell, file, frame, sheet, slide } from '../../../support/open-document-looks.js';
import { readBlocks } from '../../../support/read-blocks.js';

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

test('words stay whole under their readings', async () => {
  const ruby =
    '<text:ruby><text:ruby-base>山路</text:ruby-base><text:ruby-text>やまみち</text:ruby-text></text:ruby>';
  const body = slide(frame(`<draw:text-box><text:p>${ruby}を登りながら</text:p></draw:text-box>`, box(0)));
  expect((await readBlocks('odp', file('odp', { body }))).text).toContain('山路を登りながら');
});
