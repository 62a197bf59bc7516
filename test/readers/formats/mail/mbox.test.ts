import { describe, expect, test } from '@jest/globals';
import { processorMilliseconds } from '../../../support/processor-time.js';
import { readBlocks } from '../../../support/read-blocks.js';

const message = (number: number, body: string, end = '\n'): string =>
  [
    'From ann@example.com Thu Jan  1 10:00:00 2026',
    'From: Ann <ann@example.com>',
    `Subject: number ${String(number)}`,
    '',
    body,
    '',
    '',
  ].join(end);

describe('a mailbox', () => {
  test('begins a part with each message, which is named in its place', async () => {
    for (const end of ['\n', '\r\n']) {
      const raw = [1, 2, 3].map((number) => message(number, `Text ${String(number)}.`, end)).join('');
      const { blocks, receipt } = await readBlocks('mbox', raw);
      expect(blocks.filter(({ isPart }) => isPart).map(({ text, place }) => [text, place?.message])).toEqual([
        ['number 1\n\n', 1],
        ['number 2\n\n', 2],
        ['number 3\n\n', 3],
      ]);
      expect(blocks.at(-1)).toMatchObject({ text: 'Text 3.\n\n', place: { message: 3 } });
      expect(receipt).toMatchObject({ unit: 'message', parts: 3, parts_read: 3, gap_count: 0 });
    }
  });

  test('keeps lines that begin with "From", quoted or not', async () => {
    const raw = message(1, '>From the hills\n>>From a reply\nplain\n\nFrom here on it is text.\nMore.');
    const { text, receipt } = await readBlocks('mbox', raw);
    expect(receipt.parts).toBe(1);
    expect(text).toContain('From the hills\n>From a reply\nplain\n\nFrom here on it is text.\nMore.');
  });

  test('names a message that is broken or encrypted, and reads the others', async () => {
    const broken = 'From x Thu Jan  1 10:00:00 2026\nno header at all\n\n';
    const sealed =
      'From x Thu Jan  1 10:00:00 2026\nSubject: secret\nContent-Type: multipart/encrypted; boundary=b\n\n--b\n\nx\n--b--\n\n';
    const { text, receipt } = await readBlocks(
      'mbox',
      message(1, 'One.') + broken + sealed + message(4, 'Four.'),
    );
    expect(text).toContain('One.');
    expect(text).toContain('secret');
    expect(text).toContain('Four.');
    expect(receipt).toMatchObject({ parts: 4, parts_read: 3 });
    expect(receipt.gaps.map(({ reason, location }) => [reason, location])).toEqual([
      ['unreadable', { message: 2 }],
      ['skipped', { message: 3 }],
    ]);
  });

  test('in which nothing is a message fails as corrupt', async () => {
    for (const raw of ['no mailbox', 'From x Thu Jan  1 10:00:00 2026\nnothing\n\n'])
      await expect(readBlocks('mbox', raw)).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('takes a time that grows with the number of its messages', async () => {
    const raw = Array.from({ length: 20_000 }, (_, index) => message(index, 'x')).join('');
    const started = processorMilliseconds();
    const { receipt } = await readBlocks('mbox', raw);
    expect(receipt.parts_read).toBe(20_000);
    expect(processorMilliseconds() - started).toBeLessThan(30_000);
  });
});
