import { describe, expect, test } from '@jest/globals';
import iconv from 'iconv-lite';
import { mailLines } from '../../../support/mail-headers.js';
import { readBlocks } from '../../../support/read-blocks.js';

const SMART = '“Angebot” – 50 €, that isn’t much…';
const message = (type: string, body: Buffer | string, ...headers: readonly string[]): Buffer =>
  Buffer.concat([
    Buffer.from(mailLines('From: ann@example.com', ...headers, `Content-Type: ${type}`, '', '')),
    typeof body === 'string' ? Buffer.from(body) : body,
  ]);
const word = (charset: string, kind: 'B' | 'Q', bytes: Uint8Array): string => {
  const quoted = [...bytes].map((byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
  return `=?${charset}?${kind}?${kind === 'B' ? Buffer.from(bytes).toString('base64') : quoted}?=`;
};
const subjectOf = async (subject: string): Promise<string | null | undefined> => {
  const raw = Buffer.concat([
    Buffer.from('From: a@b\r\nSubject: '),
    Buffer.from(subject, 'latin1'),
    Buffer.from('\r\n\r\nx'),
  ]);
  return (await readBlocks('eml', raw)).receipt.mail?.subject;
};

describe('the text of a message', () => {
  test('keeps the signs of windows-1252 under each name that it has', async () => {
    const bytes = iconv.encode(SMART, 'windows-1252');
    for (const charset of ['windows-1252', 'iso-8859-1', 'us-ascii', 'latin1', '"ISO-8859-1"', 'cp-1252'])
      expect((await readBlocks('eml', message(`text/plain; charset=${charset}`, bytes))).text).toContain(
        SMART,
      );
    const rich = iconv.encode(`<p>${SMART}</p>`, 'windows-1252');
    expect((await readBlocks('eml', message('text/html; charset=iso-8859-1', rich))).text).toContain(SMART);
  });

  test('is UTF-8 or what its bytes say where the charset means nothing', async () => {
    const german = 'Müller grüßt, die Größe stimmt.';
    const russian = 'Встреча переносится на вторник, в десять часов утра.';
    for (const charset of ['x-unknown', 'default', 'utf8', 'UTF-8;', '']) {
      expect((await readBlocks('eml', message(`text/plain; charset=${charset}`, german))).text).toContain(
        german,
      );
    }
    const bytes = iconv.encode(russian, 'koi8-r');
    expect((await readBlocks('eml', message('text/plain; charset=x-unknown', bytes))).text).toContain(
      russian,
    );
    expect(
      (await readBlocks('eml', message('text/plain; charset=unicode-1-1-utf-7', 'Hi +AOk-!'))).text,
    ).toContain('Hi é!');
  });

  test('of HTML is in the charset that only the HTML names', async () => {
    const page = iconv.encode(
      '<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-2"><p>Źródło i żółw</p>',
      'iso-8859-2',
    );
    for (const type of ['text/html', 'text/html; charset=us-ascii'])
      expect((await readBlocks('eml', message(type, page))).text).toContain('Źródło i żółw');
  });

  test('is joined where its lines flow, quoted lines by themselves', async () => {
    const flowed = mailLines('First half ', 'second half.', '> quoted ', '> words', '-- ', 'Ann');
    const read = await readBlocks('eml', message('text/plain; format=flowed', flowed));
    expect(read.text).toContain('First half second half.\n> quoted words\n-- \nAnn');
    const east = await readBlocks(
      'eml',
      message('text/plain; format=flowed; delsp=yes; charset=utf-8', '会議の \r\n資料'),
    );
    expect(east.text).toContain('会議の資料');
  });
});

describe('a header', () => {
  test('is decoded where its words split a character, in both kinds of words', async () => {
    const text = Buffer.from('Änderung für die Sitzung: 会議');
    for (const at of [1, 13, 28, 30]) {
      for (const [first, second] of [
        ['B', 'B'],
        ['Q', 'Q'],
        ['B', 'Q'],
      ] as const) {
        const split = `${word('utf-8', first, text.subarray(0, at))}\r\n ${word('UTF-8', second, text.subarray(at))}`;
        expect(await subjectOf(split)).toBe(text.toString());
      }
    }
    const base64 = text.toString('base64');
    expect(await subjectOf(`=?utf-8?B?${base64.slice(0, 6)}?= =?utf-8?B?${base64.slice(6)}?=`)).toBe(
      text.toString(),
    );
  });

  test('keeps the signs of windows-1252, and is decoded in seven-bit encodings and unknown ones', async () => {
    expect(await subjectOf(word('iso-8859-1', 'Q', iconv.encode(SMART, 'windows-1252')))).toBe(SMART);
    const jis = (text: string) => Buffer.from(`\u001b$B${text}\u001b(B`, 'latin1');
    expect(
      await subjectOf(`${word('ISO-2022-JP', 'B', jis('2q5D'))} ${word('iso-2022-jp', 'B', jis('$N;qNA'))}`),
    ).toBe('会議の資料');
    expect(await subjectOf(word('x-unknown', 'B', Buffer.from('Grüße')))).toBe('Grüße');
    expect(await subjectOf(word('gb2312', 'B', iconv.encode('模', 'gb18030')))).toBe('模');
    expect(await subjectOf(`${word('utf-8*de', 'Q', Buffer.from('Grüße'))} an =?alle`)).toBe(
      'Grüße an =?alle',
    );
  });

  test('of raw bytes is in the encoding of the text below it, and its addresses are, too', async () => {
    const raw = iconv.encode(
      mailLines(
        'From: Zdeněk Dvořák <z@example.com>',
        'Subject: Příští schůzka',
        'Content-Type: text/plain; charset=windows-1250',
        '',
        'Těším se.',
      ),
      'windows-1250',
    );
    const { text, receipt } = await readBlocks('eml', raw);
    expect(text).toContain('From: Zdeněk Dvořák <z@example.com>');
    expect(text).toContain('Těším se.');
    expect(receipt.mail?.subject).toBe('Příští schůzka');
    expect(receipt.title).toBe('Příští schůzka');
  });

  test('of people is decoded with commas within names', async () => {
    const name = word('windows-1252', 'Q', iconv.encode('O’Neill, Zoë', 'windows-1252'));
    const { text, receipt } = await readBlocks(
      'eml',
      mailLines('From: a@b', `To: ${name} <zoe@example.com>, bob@example.com`, '', 'x'),
    );
    expect(text).toContain('To: O’Neill, Zoë <zoe@example.com>, bob@example.com');
    expect(receipt.mail?.to).toEqual(['zoe@example.com', 'bob@example.com']);
  });
});

test('names of attachments are decoded in their charsets, in sections, and as raw bytes', async () => {
  const names = [
    ["filename*=windows-1252''%80%20rates.csv", '€ rates.csv'],
    [
      'filename*0*=utf-8\'\'%C3%9Cber; filename*1*=sicht%20%E2%82; filename*2*=%AC; filename*3=" 100%25.csv"',
      'Übersicht € 100%25.csv',
    ],
    [`filename="${word('iso-8859-1', 'Q', iconv.encode('“x” €.csv', 'windows-1252'))}"`, '“x” €.csv'],
    ["filename=plain.csv; filename*=UTF-8''%E4%BC%9A%E8%AD%B0.csv", '会議.csv'],
    ['filename="Příloha č. 1.csv"', 'Příloha č. 1.csv'],
  ] as const;
  for (const [parameter, filename] of names) {
    const raw = mailLines(
      'From: a@b',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: text/plain; charset=windows-1250',
      '',
      'See below.',
      '--b',
      `Content-Disposition: attachment; ${parameter}`,
      '',
      'a,b',
      '--b--',
    );
    const { receipt } = await readBlocks('eml', iconv.encode(raw, 'windows-1250'));
    expect(receipt.attachments).toMatchObject([{ filename }]);
  }
});

test('attachments of a mail whose letters nothing names an encoding for are attachments', async () => {
  const raw = mailLines(
    'Subject: Grüße',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'Schöne Grüße',
    '--b',
    'Content-Type: application/pdf; name=plan.pdf',
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from(`%PDF-1.4\n${'1 0 obj <</Type /Catalog>> endobj\n'.repeat(20)}`).toString('base64'),
    '--b--',
  );
  const { text, gaps } = await readBlocks('eml', Buffer.from(raw, 'latin1'));
  expect(text).toContain('Schöne Grüße');
  expect(gaps).toEqual([expect.stringContaining('plan.pdf')]);
});
