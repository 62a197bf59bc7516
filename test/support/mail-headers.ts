/** Headers of a message, with names, lists, groups and encoded words. */
export const MAIL_HEADERS: readonly string[] = [
  'From: "Ann Müller" <ann@example.com>',
  'To: Bob <bob@example.com>, =?utf-8?Q?Zo=C3=AB?= <zoe@example.com>',
  'Cc: Team: carl@example.com, dora@example.com;',
  'Date: Thu, 1 Jan 2026 10:00:00 +0100',
  'Subject: =?ISO-8859-1?Q?Gr=FC=DFe?= =?utf-8?B?IGF1cyDwn5iA?=',
];

/** Lines as messages end them. */
export const mailLines = (...lines: readonly string[]): string => lines.join('\r\n');
