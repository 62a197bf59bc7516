interface MailFile {
  readonly name: string;
  readonly type?: string;
  readonly bytes: string | Uint8Array;
}

interface Mail {
  readonly subject: string;
  readonly text?: string;
  readonly files?: readonly MailFile[];
}

let mails = 0;

/** Writes a message with attachments. */
export function writeMail({ subject, text = 'A text.', files = [] }: Mail): Buffer {
  mails += 1;
  // One message may be within another, so that each has its own boundary.
  const boundary = `part-${String(mails)}`;
  const parts = files.map(({ name, type = 'application/octet-stream', bytes }) =>
    [
      `--${boundary}`,
      `Content-Type: ${type}; name="${name}"`,
      `Content-Disposition: attachment; filename="${name}"`,
      'Content-Transfer-Encoding: base64',
      '',
      (
        Buffer.from(bytes)
          .toString('base64')
          .match(/.{1,76}/g) ?? []
      ).join('\r\n'),
    ].join('\r\n'),
  );
  const head = [
    'From: Ann <ann@example.com>',
    'To: Bob <bob@example.com>',
    `Subject: ${subject}`,
    'MIME-Version: 1.0',
    `Content-Type: multipart/mixed; boundary="${boundary}"`,
  ];
  const body = [`--${boundary}`, 'Content-Type: text/plain; charset=utf-8', '', text];
  return Buffer.from([...head, '', ...body, ...parts, `--${boundary}--`, ''].join('\r\n'));
}
