import { expect, test } from '@jest/globals';
import { MAIL_HEADERS, mailLines } from '../../../support/mail-headers.js';
import { readBlocks } from '../../../support/read-blocks.js';

test('a message has its headers taken down as filters ask for them', async () => {
  const headers = [...MAIL_HEADERS, 'Message-ID: <CAF.1@Mail.Example.com>'];
  const { receipt } = await readBlocks('eml', mailLines(...headers, '', 'x', ''));
  expect(receipt.mail).toEqual({
    from: ['ann@example.com'],
    to: ['bob@example.com', 'zoe@example.com'],
    cc: ['carl@example.com', 'dora@example.com'],
    date: '2026-01-01T09:00:00.000Z',
    subject: 'Grüße aus 😀',
    message_id: 'CAF.1@Mail.Example.com',
  });
  const zone = await readBlocks('eml', 'From: a@b\nDate: Thu, 1 Jan 2026 10:00:00 +0000 (GMT)\n\nx');
  expect(zone.receipt.mail).toMatchObject({ date: '2026-01-01T10:00:00.000Z', subject: null, to: [] });
  for (const date of ['yesterday', '1 Jan 275000 00:00', ''])
    expect((await readBlocks('eml', `From: a@b\nDate: ${date}\n\nx`)).receipt.mail?.date).toBeNull();
});

test('a message with a thousand recipients and a subject of half a megabyte has bounded headers', async () => {
  const many = Array.from({ length: 1_000 }, (_, index) => `U${String(index)}@EXAMPLE.com`).join(',\r\n ');
  const subject = 'long '.repeat(100_000);
  const { receipt } = await readBlocks('eml', `From: a@b\r\nTo: ${many}\r\nSubject: ${subject}\r\n\r\nx`);
  expect(receipt.mail?.to).toHaveLength(32);
  expect(receipt.mail?.to[31]).toBe('u31@example.com');
  expect(receipt.mail?.subject?.length).toBeLessThanOrEqual(500);
});
