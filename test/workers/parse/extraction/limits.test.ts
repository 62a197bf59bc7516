import { expect, test } from '@jest/globals';
import { createReceiptWriter } from '../../../../src/readers/receipt/receipt-writer.js';
import { mostText } from '../../../../src/workers/parse/extraction.js';

const MIB = 1024 * 1024;

test('a file holds eight characters for each byte, and as much more as its format may inflate to', () => {
  const chunk = { size: 512, overlap: 0 };
  const most = (format: Parameters<typeof mostText>[0]['format']) => mostText({ format, chunk }, 1_000);
  for (const format of ['text', 'html', 'csv', 'eml', 'rtf', 'png'] as const)
    expect(most(format)).toBe(8_000 + MIB);
  for (const format of ['docx', 'pptx', 'xlsx', 'odt', 'ods', 'odp', 'epub', 'pdf'] as const)
    expect(most(format)).toBe(8_000 + 64 * MIB);
});

test('a receipt names a hundred gaps and attachments, and counts all gaps', () => {
  const receipt = createReceiptWriter();
  for (let at = 0; at < 150; at += 1) {
    receipt.addGap('empty', 'The page holds no text.');
    receipt.addAttachment({
      filename: null,
      content_type: 'text/plain',
      size_bytes: 1,
      document_id: null,
      reason: null,
    });
  }
  const { gaps, gap_count, gap_counts, attachments } = receipt.findings();
  expect([gaps.length, gap_count, gap_counts.empty, attachments.length]).toEqual([100, 150, 150, 100]);
});

test('titles and sentences of a receipt hold no control characters', () => {
  const receipt = createReceiptWriter();
  receipt.setTitle('\u001b[31mOld\u0000 \ud800Mill\u0007');
  receipt.addGap('skipped', 'The file a\u0008b\u001b[0m.txt is not read.');
  const { title, gaps } = receipt.findings();
  expect([title, gaps[0]?.detail]).toEqual(['Old \ufffdMill', 'The file b.txt is not read.']);
});
