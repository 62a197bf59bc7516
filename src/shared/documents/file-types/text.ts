import { isBinary } from './binary.js';
import type { FileFormat } from './formats.js';
import { startsAsHtml } from './html-start.js';

/** Formats that the beginning of a text tells, whatever the file is called. */
const STARTS: readonly (readonly [RegExp, FileFormat | null])[] = [
  [/^\{\\rtf/, 'rtf'],
  [/^(?:Received|Return-Path|Delivered-To|Message-ID|MIME-Version|X-[\w-]{1,64}): /i, 'eml'],
  [/^WEBVTT(?![^\s])/, 'vtt'],
  [/^\d+\r?\n\d\d:\d\d:\d\d[,.]\d\d\d --> /, 'srt'],
  [/^%!PS/, null],
];

/** Files of text that is not for reading. */
const UNREAD_EXTENSIONS = new Set(['svg', 'ps', 'eps', 'doc', 'xls', 'ppt', 'zip']);

/** What tells a format stands within so many bytes. */
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

/** Names of headers that mails have. */
const MAIL_HEADERS = new Set(
  'from to cc bcc subject date message-id mime-version received return-path delivered-to reply-to sender content-type content-transfer-encoding in-reply-to references sent'.split(
    ' ',
  ),
);
/** Formats by whose names mails are kept. The messages of Outlook have the same extension as the mails of some programs. */
const KEPT_AS: ReadonlySet<FileFormat | undefined> = new Set<FileFormat | undefined>([
  undefined,
  'text',
  'eml',
  'msg',
]);
const MOST_HEADER_LINES = 100;

/** A mail begins with nothing but headers up to an empty line: a sender, and two others that mails have. */
function startsAsMail(start: string, { isCut }: { isCut: boolean }): boolean {
  const names = new Set<string>();
  const lines = start.split(/\r?\n/, MOST_HEADER_LINES);
  for (const [index, line] of lines.entries()) {
    if (line === '') break;
    if (/^[ \t]/.test(line)) continue;
    const end = line.indexOf(':');
    const name = line.slice(0, Math.max(0, end)).toLowerCase();
    const isCutOff = isCut && index === lines.length - 1;
    // A reader of mails would lose what stands below such headers.
    if (!isCutOff && !/^[a-z][a-z0-9-]*$/.test(name)) return false;
    if (MAIL_HEADERS.has(name)) names.add(name);
  }
  return names.has('from') && names.size >= 3;
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
