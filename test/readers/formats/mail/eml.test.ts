import { describe, expect, test } from '@jest/globals';
import { MAIL_HEADERS, mailLines } from '../../../support/mail-headers.js';
import { processorMilliseconds } from '../../../support/processor-time.js';
import { readBlocks } from '../../../support/read-blocks.js';

const part = (headers: readonly string[], body: string): string => mailLines('--b', ...headers, '', body);
const mail = (type: string, ...parts: readonly string[]): string =>
  mailLines(
    ...MAIL_HEADERS,
    'MIME-Version: 1.0',
    `Content-Type: ${type}; boundary=b`,
    '',
    ...parts,
    '--b--',
    '',
  );

describe('a message', () => {
  test('begins with its subject as a heading and the other headers, decoded', async () => {
    const { blocks, receipt } = await readBlocks('eml', mailLines(...MAIL_HEADERS, '', 'Good morning.', ''));
    expect(blocks[0]).toMatchObject({ text: 'Grüße aus 😀\n\n', heading: 1 });
    expect(blocks[1]?.text).toBe(
      'From: Ann Müller <ann@example.com>\nTo: Bob <bob@example.com>, Zoë <zoe@example.com>\n' +
        'Cc: Team: carl@example.com, dora@example.com\nDate: Thu, 1 Jan 2026 10:00:00 +0100\n\n',
    );
    expect(blocks[2]?.text).toBe('Good morning.\n\n');
    expect(receipt).toMatchObject({ title: 'Grüße aus 😀', gap_count: 0 });
  });

  test('is read as plain text where it has that, and as HTML otherwise', async () => {
    const plain = part(['Content-Type: text/plain'], 'The plain one.');
    const html = part(['Content-Type: text/html'], '<p>The <b>rich</b> one.</p>');
    const both = await readBlocks('eml', mail('multipart/alternative', plain, html));
    expect(both.text).toContain('The plain one.');
    expect(both.text).not.toContain('rich');
    const blank = part(['Content-Type: text/plain'], ' ');
    expect((await readBlocks('eml', mail('multipart/alternative', blank, html))).text).toContain(
      'The rich one.',
    );
    expect((await readBlocks('eml', mail('multipart/mixed', html))).text).toContain('The rich one.');
  });

  test('is decoded by the encodings that its parts state', async () => {
    const cases = [
      ['iso-8859-7', 'Q', '=EA=E1=EB=E7=EC=DD=F1=E1', 'καλημέρα'],
      ['shift_jis', 'B', Buffer.from('93fa967b8cea', 'hex').toString('base64'), '日本語'],
      ['utf-16', 'B', Buffer.from('\ufeffweit', 'utf16le').toString('base64'), 'weit'],
      ['koi8-r', 'Q', '=D0=D2=C9=D7=C5=D4', 'привет'],
      ['gb18030', 'B', Buffer.from('c4e3bac3', 'hex').toString('base64'), '你好'],
    ] as const;
    for (const [charset, kind, encoded, text] of cases) {
      const encoding = kind === 'Q' ? 'quoted-printable' : 'base64';
      const raw = mailLines(
        'Subject: x',
        `Content-Type: text/plain; charset="${charset}"`,
        `Content-Transfer-Encoding: ${encoding}`,
        '',
        encoded,
      );
      expect((await readBlocks('eml', raw)).text).toContain(text);
    }
  });

  test('is read where a program has saved it as UTF-16, or in an encoding that nothing names', async () => {
    const raw = mailLines('Subject: Größe', '', 'Die Größe der Häuser überraschte Jürgen sehr.');
    const wide = Buffer.from(raw, 'utf16le');
    for (const bytes of [wide, Buffer.from(`\ufeff${raw}`, 'utf16le'), Buffer.from(raw, 'latin1')])
      expect((await readBlocks('eml', bytes)).text).toMatch(/^Größe\n\nDie Größe der Häuser/);
    expect((await readBlocks('eml', `\ufeff${raw}`)).blocks[0]).toMatchObject({ heading: 1 });
  });

  test('survives broken base64 and quoted-printable', async () => {
    const broken = (encoding: string, body: string): string =>
      mailLines('Subject: x', `Content-Transfer-Encoding: ${encoding}`, '', body);
    expect((await readBlocks('eml', broken('base64', 'SGVsbG8g*d29ybGQ='))).text).toContain('Hello world');
    expect((await readBlocks('eml', broken('base64', 'SGVsb'))).text).toContain('Hel');
    expect((await readBlocks('eml', broken('quoted-printable', 'a=ZZ b=3 c=\r\nd='))).text).toContain(
      'a=ZZ b=3 cd',
    );
  });

  test('without a text says so, and one that is no message fails as corrupt', async () => {
    const { receipt } = await readBlocks('eml', mailLines(...MAIL_HEADERS, '', ''));
    expect(receipt.gap_counts).toEqual({ empty: 1 });
    await expect(readBlocks('eml', 'just a note\n\nwithout headers')).rejects.toMatchObject({
      code: 'corrupt',
    });
  });
});

describe('what a message carries', () => {
  test('is named in the receipt, without pictures of its HTML and signatures', async () => {
    const picture = ['Content-Type: image/png', 'Content-ID: <p>', 'Content-Transfer-Encoding: base64'];
    const related = mailLines(
      '--b',
      'Content-Type: multipart/related; boundary=r',
      '',
      '--r',
      'Content-Type: text/html',
      '',
      '<p>See <img src="cid:p"></p>',
      '--r',
      ...picture,
      '',
      'AAAA',
      '--r--',
    );
    const table = part(
      ['Content-Type: text/csv', "Content-Disposition: attachment; filename*=utf-8''%C3%9Cbersicht.csv"],
      'a,b',
    );
    const signature = part(['Content-Type: application/pgp-signature; name=signature.asc'], 'x');
    const tnef = part(['Content-Type: application/ms-tnef; name=winmail.dat'], 'x');
    const raw = mail('multipart/mixed', related, table, signature, tnef);
    const { receipt, text } = await readBlocks('eml', raw);
    expect(text).toContain('See');
    expect(receipt.attachments).toMatchObject([
      { filename: 'Übersicht.csv', content_type: 'text/csv', size_bytes: 4, document_id: null },
      { filename: 'winmail.dat', reason: 'The setting ingest.attachments is off.' },
    ]);
    expect(receipt.gap_counts).toEqual({ skipped: 2 });
  });

  test('as messages is text under their own headings, also when they are attached', async () => {
    const inner = mailLines('From: carl@example.com', 'Subject: inner', '', 'The inner text.');
    const forwarded = part(
      ['Content-Type: message/rfc822', 'Content-Disposition: attachment; filename=inner.eml'],
      inner,
    );
    const { blocks, receipt } = await readBlocks(
      'eml',
      mail('multipart/mixed', part([], 'The outer text.'), forwarded),
    );
    expect(blocks.filter(({ heading }) => heading).map(({ text, heading }) => [text, heading])).toEqual([
      ['Grüße aus 😀\n\n', 1],
      ['inner\n\n', 2],
    ]);
    expect(blocks.at(-1)?.text).toBe('The inner text.\n\n');
    expect(receipt.attachments).toEqual([]);
  });

  test('is read to a bounded depth', async () => {
    const deep = (count: number) => 'Subject: x\nContent-Type: message/rfc822\n\n'.repeat(count - 1);
    const read = (count: number) => readBlocks('eml', `${deep(count)}Subject: the end\n\nText`);
    const within = await read(10);
    expect(within.receipt.gap_count).toBe(0);
    expect(within.text).toContain('the end');
    const beyond = await read(11);
    expect(beyond.receipt.gap_counts).toEqual({ limit: 1 });
    expect(beyond.text).not.toContain('the end');
  });
});

describe('a sealed message', () => {
  test('that is encrypted fails as such', async () => {
    const pgp = mail('multipart/encrypted; protocol="application/pgp-encrypted"', part([], 'x'));
    const inline = mailLines(...MAIL_HEADERS, '', '-----BEGIN PGP MESSAGE-----', '', 'hQEMA', '');
    const enveloped = Buffer.from('301106092a864886f70d010703a004300202 00'.replace(/ /g, ''), 'hex');
    const smime = mailLines(
      ...MAIL_HEADERS,
      'Content-Type: application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m',
      'Content-Transfer-Encoding: base64',
      '',
      enveloped.toString('base64'),
    );
    for (const raw of [pgp, inline, smime])
      await expect(readBlocks('eml', raw)).rejects.toMatchObject({ code: 'encrypted' });
  });

  test.each([
    ['with lengths', der],
    ['without lengths', ber],
  ])('that is only signed is read, %s', async (_, wrap) => {
    const inner = mailLines('Content-Type: text/plain; charset=utf-8', '', 'Signed: fünf.');
    const raw = mailLines(
      ...MAIL_HEADERS,
      'Content-Type: application/x-pkcs7-mime; smime-type=signed-data; name=smime.p7m',
      'Content-Transfer-Encoding: base64',
      '',
      wrap(Buffer.from(inner)).toString('base64'),
    );
    const { text, receipt } = await readBlocks('eml', raw);
    expect(text).toContain('Signed: fünf.');
    expect(receipt.gap_count).toBe(0);
  });
});

describe('a hostile message', () => {
  test('of too many nested parts or too long headers fails as too large', async () => {
    const open = (index: number): string => `Content-Type: multipart/mixed; boundary=b${String(index)}\n\n`;
    const nested = Array.from({ length: 100 }, (_, index) => `${open(index)}--b${String(index)}\n`).join('');
    const headers = `Subject: x\n${`X-Long: ${'y'.repeat(1000)}\n`.repeat(2000)}\n`;
    for (const raw of [`Subject: x\n${nested}`, headers])
      await expect(readBlocks('eml', raw)).rejects.toMatchObject({ code: 'too_large' });
  });

  test('is read in a time that grows with its length', async () => {
    const parts = mail('multipart/mixed', ...Array.from({ length: 20_000 }, () => part([], 'x')));
    const dashes = mail('multipart/mixed', part([], `${'-'.repeat(70)}\n`.repeat(50_000)));
    const comments = mailLines(`Subject: ${'('.repeat(100_000)}`, `To: ${'<('.repeat(50_000)}`, '', 'x');
    const started = processorMilliseconds();
    for (const raw of [parts, dashes, comments]) await readBlocks('eml', raw);
    expect(processorMilliseconds() - started).toBeLessThan(30_000);
  });
});

const SIGNED_DATA = Buffer.from('2a864886f70d010702', 'hex');
const DATA = Buffer.from('2a864886f70d010701', 'hex');

/** Signed data in DER, as far as a reader of the content looks at it. */
function der(content: Buffer): Buffer {
  const element = (tag: number, ...parts: readonly Buffer[]): Buffer => {
    const body = Buffer.concat(parts);
    const length = Buffer.from([0x82, body.length >> 8, body.length & 255]);
    return Buffer.concat([Buffer.from([tag]), length, body]);
  };
  const encapsulated = element(0x30, element(6, DATA), element(0xa0, element(4, content)));
  const signed = element(0x30, element(2, Buffer.from([1])), element(0x31), encapsulated);
  return element(0x30, element(6, SIGNED_DATA), element(0xa0, signed));
}

/** The same in BER, where elements end with two zeros and the content is divided. */
function ber(content: Buffer): Buffer {
  const plain = (tag: number, body: Buffer): Buffer => Buffer.concat([Buffer.from([tag, body.length]), body]);
  const endless = (tag: number, ...parts: readonly Buffer[]): Buffer =>
    Buffer.concat([Buffer.from([tag, 0x80]), ...parts, Buffer.from([0, 0])]);
  const half = content.length >> 1;
  const pieces = [content.subarray(0, half), content.subarray(half)].map((piece) => plain(4, piece));
  const encapsulated = endless(0x30, plain(6, DATA), endless(0xa0, endless(0x24, ...pieces)));
  const signed = endless(0x30, plain(2, Buffer.from([1])), endless(0x31), encapsulated);
  return endless(0x30, plain(6, SIGNED_DATA), endless(0xa0, signed));
}
