import type { FileFormat } from './formats.js';
import { isBinary } from './no-text.js';

/** Formats that the beginning of a text tells, whatever the file is called. */
const STARTS: readonly (readonly [RegExp, FileFormat | null])[] = [
  [/^\{\\rtf/, 'rtf'],
  [/^WEBVTT(?![^\s])/, 'vtt'],
  [/^BEGIN:VCALENDAR\r?\n/i, 'ics'],
  [/^\d+\r?\n\d\d:\d\d:\d\d[,.]\d\d\d --> /, 'srt'],
  [/^%!PS/, null],
];

/** Files of text that is not for reading. */
const UNREAD_EXTENSIONS = new Set(['svg', 'ps', 'eps', 'doc', 'xls', 'ppt', 'zip']);

/** The signs of a format stand within this many bytes. */
const START_BYTES = 4_096;

/** Formats of text that have a name and no mark of their own. */
interface Names {
  readonly extension: string;
  readonly named: FileFormat | undefined;
}

/** The first line of a mailbox says from whom its first message came, and when. */
function startsAsMailbox(start: string): boolean {
  const end = start.indexOf('\n');
  const line = end === -1 || end > 300 ? '' : start.slice(0, end);
  return /^From \S/.test(line) && /\d\d:\d\d/.test(line);
}

/** Names of headers that programs write into mails, and people into no text. */
const WRITTEN_BY_PROGRAMS =
  'message-id mime-version received return-path delivered-to content-type content-transfer-encoding in-reply-to'.split(
    ' ',
  );
/** Names of headers that mails have. */
const MAIL_HEADERS = new Set([
  ...'from to cc bcc subject date reply-to sender references sent'.split(' '),
  ...WRITTEN_BY_PROGRAMS,
]);
/** Further headers of mails and news. A header of one word could also be a line of a memo. */
const OTHER_HEADERS = /^(?:newsgroups|organization|lines|path|xref|distribution|[a-z]+(?:-[a-z0-9]+)+)$/;
/** Formats by whose names mails are kept. The messages of Outlook have the same extension as the mails of some programs. */
const KEPT_AS: ReadonlySet<FileFormat | undefined> = new Set<FileFormat | undefined>([
  undefined,
  'text',
  'eml',
  'mbox',
  'msg',
]);
const MAX_HEADER_LINES = 100;

/**
 * A mail begins with nothing but headers up to an empty line: a sender, and two others that mails have. A reader of mails
 * would lose the lines of a memo that has such headers, too, so that one with others is a mail only if a program wrote it.
 */
function startsAsMail(start: string, { isCut }: { isCut: boolean }): boolean {
  const headers = headersOf(start, { isCut });
  if (!headers) return false;
  const { names, hasOthers, isWhole } = headers;
  const isProgram = WRITTEN_BY_PROGRAMS.some((name) => names.has(name));
  // The sender may stand below many lines of the servers that passed the mail on.
  if (!names.has('from')) return !isWhole && isProgram && names.size > 1;
  return names.size > 2 && (isProgram || !hasOthers);
}

/** The headers of mail that a text begins with, and whether there are others; undefined where something else comes first. */
function headersOf(start: string, { isCut }: { isCut: boolean }) {
  const names = new Set<string>();
  const lines = start.split(/\r?\n/, MAX_HEADER_LINES);
  let hasOthers = false;
  for (const [index, line] of lines.entries()) {
    if (line === '') return { names, hasOthers, isWhole: true };
    if (/^[ \t]/.test(line)) continue;
    const end = line.indexOf(':');
    const name = line.slice(0, Math.max(0, end)).toLowerCase();
    const isCutOff = isCut && index === lines.length - 1;
    if (!isCutOff && !/^[a-z][a-z0-9-]*$/.test(name)) return undefined;
    if (MAIL_HEADERS.has(name)) {
      // There is one sender in a mail, and one in each of several records.
      if (name === 'from' && names.has(name)) return undefined;
      names.add(name);
    } else if (!isCutOff && !OTHER_HEADERS.test(name)) hasOthers = true;
  }
  return { names, hasOthers, isWhole: !isCut && lines.length < MAX_HEADER_LINES };
}

export function detectText(head: Uint8Array, { extension, named }: Names): FileFormat | null {
  if (UNREAD_EXTENSIONS.has(extension) || isBinary(head)) return null;
  // Apart from the zeros of two-byte encodings, the markers are ASCII in every encoding.
  const start = Buffer.from(head.subarray(0, START_BYTES))
    .toString('latin1')
    .replace(/\0|^\xef\xbb\xbf|^\xff\xfe|^\xfe\xff/g, '')
    .trimStart();
  if (start === '') return named ?? 'text';
  if (startsAsMailbox(start)) return 'mbox';
  const marked = STARTS.find(([pattern]) => pattern.test(start));
  if (marked) return marked[1];
  if (KEPT_AS.has(named) && startsAsMail(start, { isCut: head.length >= START_BYTES })) return 'eml';
  if (startsAsHtml(start)) return 'html';
  if (start.startsWith('<?xml') && named !== 'html') return /<svg[\s>]/.test(start) ? null : 'xml';
  if (named !== undefined) return named;
  if (/^<!DOCTYPE\s/.test(start)) return /^<!DOCTYPE\s+svg\b/.test(start) ? null : 'xml';
  return /^(?:\{\s*["}]|\[\s*[[{"\]\d])/.test(start) ? 'json' : 'text';
}

/**
 * Tells whether a text begins as HTML does: with `<html` or its doctype, after any number of comments and XML declarations.
 * One pass by hand reads it: a pattern would try every way to divide nested comments, and strangers send these bytes to the
 * event loop.
 */
export function startsAsHtml(text: string): boolean {
  let at = 0;
  for (;;) {
    const end = endOfPreamble(text, at);
    if (end === null) return /^<(?:!doctype\s+html|html)[\s>]/i.test(text.slice(at));
    if (end === -1) return false;
    at = afterBlanks(text, end);
  }
}

/** The end of a comment or XML declaration at `at`; null when there is none, -1 when it does not end. */
function endOfPreamble(text: string, at: number): number | null {
  if (text.startsWith('<!--', at)) return endAfter(text, '-->', at + 4);
  if (text.slice(at, at + 5).toLowerCase() === '<?xml') return endAfter(text, '>', at + 5);
  return null;
}

function endAfter(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found === -1 ? -1 : found + mark.length;
}

function afterBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charAt(at).trim() === '') at += 1;
  return at;
}
