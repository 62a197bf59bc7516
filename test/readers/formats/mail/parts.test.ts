import { describe, expect, test } from '@jest/globals';
import { mailLines } from '../../../support/mail-headers.js';
import { readBlocks } from '../../../support/read-blocks.js';

const part = (type: string, ...body: readonly string[]): string =>
  mailLines(`Content-Type: ${type}`, '', ...body);
const parts = (type: string, ...inner: readonly string[]): string => {
  const boundary = `b${String((nextBoundary += 1))}`;
  return mailLines(
    `Content-Type: multipart/${type}; boundary=${boundary}`,
    '',
    ...inner.map((each) => `--${boundary}\r\n${each}`),
    `--${boundary}--`,
    '',
  );
};
let nextBoundary = 0;
const read = (body: string) =>
  readBlocks('eml', mailLines('From: ann@example.com', 'Subject: x', 'MIME-Version: 1.0', body));

describe('of two forms of a text', () => {
  test('HTML is read where it goes on behind an attachment that plain text does not reach', async () => {
    const file = mailLines(
      'Content-Type: application/pdf; name=plan.pdf',
      'Content-Disposition: inline; filename=plan.pdf',
      '',
      'x',
    );
    const { text, receipt } = await read(
      parts(
        'alternative',
        part('text/plain', 'The plan is attached.'),
        parts(
          'mixed',
          part('text/html', '<p>The plan is attached.</p>'),
          file,
          part('text/html', '<p>Please bring the keys of the boathouse.</p>'),
        ),
      ),
    );
    expect(text).toContain('Please bring the keys of the boathouse.');
    expect(text.match(/The plan is attached/g)).toHaveLength(1);
    expect(receipt.attachments).toMatchObject([{ filename: 'plan.pdf' }]);
  });

  test('HTML is read where the plain one only points to it, in any language, is empty, or is cut', async () => {
    const rich = part(
      'text/html; charset=utf-8',
      '<table><tr><td>Rechnung</td><td>8812</td></tr></table><p>Bitte zahlen Sie 42 EUR bis zum 3. Mai auf unser Konto.</p>',
    );
    for (const pointer of [
      'Your mail client does not support HTML.',
      'Ваша программа не показывает HTML.',
      '',
      'http://example.com/view?id=1',
      'Rechnung 8812 Bitte zahlen',
    ]) {
      const { text } = await read(parts('alternative', part('text/plain; charset=utf-8', pointer), rich));
      expect(text).toContain('42 EUR bis zum 3. Mai');
    }
  });

  test.each([
    ['short', 'This message is written in HTML.', '<p>Wir sehen uns am Montag um neun.</p>'],
    [
      'in Japanese',
      'This part cannot be shown here.',
      '<p>カフェではコーヒーとケーキを注文できる。列車は毎朝出発します。</p>',
    ],
    ['in Thai', 'This part cannot be shown here.', '<p>รถไฟออกจากสถานีทุกเช้าเวลาเจ็ดโมง</p>'],
  ])('a plain one that points to HTML which is %s is left out', async (_, plain, html) => {
    const { text } = await read(
      parts('alternative', part('text/plain', plain), part('text/html; charset=utf-8', html)),
    );
    expect(text).not.toContain('This');
  });

  test('the plain one is read where HTML is empty or says the same', async () => {
    const plain = part('text/plain', 'We meet at noon by the old mill, as always.');
    for (const markup of [
      '',
      '<html><body></body></html>',
      '<p>We meet at <b>noon</b> by the <a href="http://x.y/z">old mill</a>, as always.</p><img src="http://t.example.com/1.gif">',
    ]) {
      const { text, receipt } = await read(parts('alternative', plain, part('text/html', markup)));
      expect(text).toContain('We meet at noon by the old mill, as always.');
      expect(text.match(/old mill/g)).toHaveLength(1);
      expect(receipt.gap_count).toBe(0);
    }
  });

  test('both are read where each says much that the other one does not', async () => {
    const { text } = await read(
      parts(
        'alternative',
        part('text/plain', 'Ferry times: seven, nine and eleven, from the north pier.'),
        part('text/html', '<p>Luggage rules: two bags each, no bicycles on deck today.</p>'),
      ),
    );
    expect(text).toMatch(/north pier[\s\S]*no bicycles/);
  });
});

test('all messages of a digest are read', async () => {
  const { text } = await read(
    parts(
      'digest',
      mailLines('', 'From: a@b', 'Subject: one', '', 'First words.'),
      mailLines('', 'From: c@d', 'Subject: two', '', 'Second words.'),
    ),
  );
  expect(text).toMatch(/First words[\s\S]*Second words/);
});

test('a report of a mail server says why a message did not arrive', async () => {
  const { text } = await read(
    parts(
      'report',
      part('text/plain', 'Not delivered.'),
      part(
        'message/delivery-status',
        'Final-Recipient: rfc822; bob@example.com',
        'Diagnostic-Code: smtp; 550 mailbox full',
      ),
    ),
  );
  expect(text).toMatch(/Not delivered[\s\S]*550 mailbox full/);
});

const INVITATION = [
  'BEGIN:VCALENDAR',
  'METHOD:REQUEST',
  'BEGIN:VTIMEZONE',
  'TZID:Europe/Berlin',
  'BEGIN:STANDARD',
  'DTSTART:19701025T030000',
  'END:STANDARD',
  'END:VTIMEZONE',
  'BEGIN:VEVENT',
  'UID:7',
  'SUMMARY:Keel inspection\\; second day',
  'DTSTART;TZID=Europe/Berlin:20260305T093000',
  'DTEND;TZID=Europe/Berlin:20260305T110000',
  'RRULE:FREQ=WEEKLY;COUNT=3',
  'LOCATION:Dry dock 4\\, north gate',
  'ORGANIZER;CN="Weber, Ida":mailto:ida@example.com',
  'ATTENDEE;CN=Tom;PARTSTAT=ACCEPTED:MAILTO:tom@example.com',
  'ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:',
  ' lee@example.com',
  'DESCRIPTION:Bring the long gau',
  ' ges\\nand lamps',
  'BEGIN:VALARM',
  'DESCRIPTION:Reminder',
  'END:VALARM',
  'END:VEVENT',
  'END:VCALENDAR',
];

describe('an invitation', () => {
  test('tells what, when, where and who, once, beside the text of the message', async () => {
    const attached = mailLines(
      'Content-Type: application/ics; name=invite.ics',
      'Content-Disposition: attachment; filename=invite.ics',
      '',
      ...INVITATION,
    );
    const { text, receipt } = await read(
      parts(
        'mixed',
        parts(
          'alternative',
          part('text/plain', 'You are invited.'),
          part('text/html', '<p>You are invited.</p>'),
          part('text/calendar; method=REQUEST', ...INVITATION),
        ),
        attached,
      ),
    );
    expect(text).toContain('You are invited.');
    expect(text).toContain(
      'Event: Keel inspection; second day\nWhen: 2026-03-05 09:30 to 11:00 (Europe/Berlin)\nRepeats: weekly, count 3\n' +
        'Where: Dry dock 4, north gate\nOrganizer: Weber, Ida <ida@example.com>\nAttendees: Tom <tom@example.com> (accepted), lee@example.com\n\n' +
        'Bring the long gauges\nand lamps\n',
    );
    expect(text.match(/Keel/g)).toHaveLength(1);
    expect(text).not.toContain('Reminder');
    expect(receipt.gap_count).toBe(0);
  });

  test('tells whole days, other zones, lengths and that it is cancelled', async () => {
    const event = (...lines: readonly string[]) =>
      read(
        part(
          'text/calendar',
          'BEGIN:VCALENDAR',
          'METHOD:CANCEL',
          'BEGIN:VEVENT',
          ...lines,
          'END:VEVENT',
          'END:VCALENDAR',
        ),
      );
    expect(
      (await event('SUMMARY:Fair', 'DTSTART;VALUE=DATE:20260501', 'DTEND;VALUE=DATE:20260504')).text,
    ).toContain('Event: Fair\nStatus: cancelled\nWhen: 2026-05-01 to 2026-05-03');
    expect((await event('DTSTART:20260501T080000Z', 'DURATION:PT1H30M')).text).toContain(
      'When: 2026-05-01 08:00 (UTC), for 1 hour 30 minutes',
    );
    expect((await event('DTSTART:20260501T220000Z', 'DTEND:20260502T010000Z')).text).toContain(
      'When: 2026-05-01 22:00 to 2026-05-02 01:00 (UTC)',
    );
  });
});
