import { expect, test } from '@jest/globals';
import { parsePptx } from '../../../../src/readers/formats/ooxml/pptx.js';
import { processorMilliseconds } from '../../../support/processor-time.js';
import { readBlocks } from '../../../support/read-blocks.js';
import { rgb, shape, slideFile, type SlideParts } from '../../../support/slide-file.js';

const read = (parts: SlideParts) => readBlocks(parsePptx, slideFile(parts));
const white = { color: rgb('FFFFFF') };

test('text on slides that nobody sees is looked for up to a number of comparisons, beyond which it is read and a gap says so', async () => {
  const hidden = { shapes: Array.from({ length: 5_000 }, () => shape('words', white)).join('') };
  const { text, receipt } = await read(hidden);
  expect(text).toContain('words');
  expect(receipt.gaps).toContainEqual({
    reason: 'limit',
    location: null,
    detail: 'Not all shapes were compared to find hidden text, since they are too many.',
  });
  expect((await read({ shapes: shape('words', white) })).receipt.gap_counts).not.toHaveProperty('limit');
});

test('text on slides that nobody sees is found in a time that grows with the number of shapes', async () => {
  const many = Array.from({ length: 20_000 }, () => shape('words', white)).join('');
  const started = processorMilliseconds();
  await read({ shapes: many });
  expect(processorMilliseconds() - started).toBeLessThan(15_000);
});
