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

export function detectText(head: Uint8Array, { extension, named }: Names): FileFormat | null {
  if (UNREAD_EXTENSIONS.has(extension) || isBinary(head)) return null;
  // Apart from the zeros of two-byte encodings, the markers are ASCII in every encoding.
  const start = Buffer.from(head.subarray(0, 4096))
    .toString('latin1')
    .replace(/\0|^\xef\xbb\xbf|^\xff\xfe|^\xfe\xff/g, '')
    .trimStart();
  if (start === '') return named ?? 'text';
  if (startsAsMailbox(start)) return 'mbox';
  const marked = STARTS.find(([pattern]) => pattern.test(start));
  if (marked) return marked[1];
  if (startsAsHtml(start)) return 'html';
  if (start.startsWith('<?xml') && named !== 'html') return /<svg[\s>]/.test(start) ? null : 'xml';
  if (named !== undefined) return named;
  return /^(?:\{\s*["}]|\[\s*[[{"\]\d])/.test(start) ? 'json' : 'text';
}
