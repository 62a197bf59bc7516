import { expect, test } from '@jest/globals';
import iconv from 'iconv-lite';
import { detectFileType } from '../../../../src/readers/detection/detect.js';
import { mailLines } from '../../../support/mail-headers.js';
import { processorMilliseconds, processorTimeOf } from '../../../support/processor-time.js';
import { readBlocks } from '../../../support/read-blocks.js';

const entry = (kind: string, ...lines: readonly string[]): string =>
  mailLines(`BEGIN:${kind}`, ...lines, `END:${kind}`);
const calendar = (...entries: readonly string[]): string =>
  mailLines('BEGIN:VCALENDAR', 'VERSION:2.0', ...entries, 'END:VCALENDAR', '');

test('a calendar is read entry by entry, in any encoding', async () => {
  const raw = calendar(
    entry('VEVENT', 'SUMMARY:Übergabe der Schlüssel', 'DTSTART:20260612T140000', 'LOCATION:Bootshaus'),
    entry('VTODO', 'SUMMARY:Zündkerzen wechseln', 'DUE;VALUE=DATE:20260701'),
  );
  for (const bytes of [Buffer.from(raw), iconv.encode(raw, 'windows-1252')]) {
    const { text, receipt } = await readBlocks('ics', bytes);
    expect(text).toBe(
      'Event: Übergabe der Schlüssel\nWhen: 2026-06-12 14:00\nWhere: Bootshaus\n\n' +
        'Event: Zündkerzen wechseln\nWhen: until 2026-07-01\n\n',
    );
    expect(receipt.parser).toBe('calendar');
  }
});

test('values of vCalendar 1.0 are decoded, also over several lines', async () => {
  const raw = calendar(
    entry(
      'VEVENT',
      'SUMMARY;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:R=C3=BC=',
      'ckgabe =',
      'des Boots',
      'LOCATION;QUOTED-PRINTABLE;CHARSET=ISO-8859-1:B=F6rse',
      'DTSTART:20260612T140000',
    ),
  );
  expect((await readBlocks('ics', raw)).text).toBe(
    'Event: Rückgabe des Boots\nWhen: 2026-06-12 14:00\nWhere: Börse\n\n',
  );
  expect((await readBlocks('ics', calendar(entry('VEVENT', 'SUMMARY:1+1=', 'LOCATION:here')))).text).toBe(
    'Event: 1+1=\nWhere: here\n\n',
  );
});

test('a calendar is known by its first line, and a file that is none fails', async () => {
  const bytes = Buffer.from(calendar());
  expect(detectFileType(bytes, 'plan.txt', null)?.format).toBe('ics');
  await expect(readBlocks('ics', 'no calendar')).rejects.toMatchObject({ code: 'corrupt' });
});

test('a calendar of many entries within each other is read in a time that grows with its length', async () => {
  const started = processorMilliseconds();
  await readBlocks('ics', 'BEGIN:VEVENT\n'.repeat(100_000));
  await readBlocks('ics', calendar(...Array.from({ length: 20_000 }, () => entry('VEVENT', 'SUMMARY:x'))));
  await readBlocks('ics', `BEGIN:VEVENT\nSUMMARY${';A=B'.repeat(100_000)}\n`);
  expect(processorMilliseconds() - started).toBeLessThan(20_000);
});

test('a value over many lines is read in a time that grows with its length', async () => {
  const lines = `${'a'.repeat(70)}=\r\n`.repeat(40_000);
  const raw = calendar(entry('VEVENT', `DESCRIPTION;ENCODING=QUOTED-PRINTABLE:${lines}b`));
  let text = '';
  const taken = await processorTimeOf(async () => ({ text } = await readBlocks('ics', raw)));
  expect(text).toContain('ab');
  expect(taken).toBeLessThan(5_000);
});

test('how long something takes is said as it is written, however long', async () => {
  const durations = [`P${'9'.repeat(400)}D`, 'PT001H', 'P0D', `PT${'1'.repeat(25)}M`];
  const entries = durations.map((duration) =>
    entry('VEVENT', 'DTSTART:20260612T140000', `DURATION:${duration}`),
  );
  const { text } = await readBlocks('ics', calendar(...entries));
  expect(text.match(/14:00.*/g)).toEqual([
    `14:00, for ${'9'.repeat(400)} days`,
    '14:00, for 1 hour',
    '14:00',
    `14:00, for ${'1'.repeat(25)} minutes`,
  ]);
});

test.each([
  ['a zone of time', 'BEGIN:VTIMEZONE\r\nTZID:X'],
  ['an entry', 'BEGIN:VEVENT\r\nSUMMARY:zero'],
  ['the alarm of an entry', 'BEGIN:VEVENT\r\nSUMMARY:zero\r\nBEGIN:VALARM\r\nEND:VEVENT'],
])('%s that is not closed keeps no entry behind it from being read', async (_, unclosed) => {
  const names = Array.from({ length: 20 }, (__, index) => `entry ${String(index)}`);
  const entries = names.map((name) => mailLines(unclosed, entry('VEVENT', `SUMMARY:${name}`)));
  for (const raw of [calendar(...entries), mailLines('BEGIN:VEVENT', 'END:VEVENT', ...entries)]) {
    const { text } = await readBlocks('ics', raw);
    expect(text.match(/entry \d+/g)).toEqual(names);
  }
});
