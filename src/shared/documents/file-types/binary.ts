import { at } from '../../at.js';
import { factsOf, type FileFormat } from './formats.js';
import { detectZip } from './zip.js';

const PICTURES: readonly (readonly [RegExp, FileFormat])[] = [
  [/^\x89PNG\r\n\x1a\n/, 'png'],
  [/^\xff\xd8\xff/, 'jpeg'],
  [/^(?:II\x2a\0|MM\0\x2a)/, 'tiff'],
  [/^RIFF[^]{4}WEBP/, 'webp'],
];

/** Formats that the bytes decide. Null is a known format that is not read; undefined may be text. */
export function detectBinary(head: Uint8Array, named: FileFormat | undefined): FileFormat | null | undefined {
  const latin = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1');
  if (isPdf(latin, head, named)) return 'pdf';
  if (/^PK(?:\x03\x04|\x05\x06|\x07\x08)/.test(latin)) return detectZip(latin, named);
  if (latin.startsWith(COMPOUND)) return detectCompound(latin, named);
  const picture = PICTURES.find(([start]) => start.test(latin.slice(0, 16)));
  if (picture) return picture[1];
  if (head.length > 0 && named && factsOf(named).container !== 'text')
    return isBinary(head) ? named : undefined;
  return undefined;
}

/**
 * Readers of PDF allow other bytes before its mark. But texts mention it, and what begins as another format may hold a PDF.
 */
function isPdf(latin: string, head: Uint8Array, named: FileFormat | undefined): boolean {
  const at = latin.slice(0, 1024).indexOf('%PDF-');
  if (at === -1) return false;
  if (named === 'pdf' || /^(?:\xef\xbb\xbf)?\s*$/.test(latin.slice(0, at))) return true;
  return isBinary(head) && !OTHER_STARTS.some((start) => latin.startsWith(start));
}

const ZIP = 'PK\x03\x04';
const COMPOUND = '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1';
const OTHER_STARTS = [ZIP, COMPOUND, '\x89PNG', '\xff\xd8\xff', 'RIFF', 'II\x2a\0', 'MM\0\x2a'];

const OFFICE: ReadonlySet<FileFormat | undefined> = new Set<FileFormat>(['docx', 'pptx', 'xlsx']);
const wide = (text: string): string => Buffer.from(text, 'utf16le').toString('latin1');
const ENCRYPTED = wide('EncryptedPackage');
const MESSAGE = wide('__properties_version1.0');

/**
 * A compound file holds an encrypted office file, a message of Outlook, or an office file until 2003. The names of its
 * streams tell which, where they are among the first bytes.
 */
function detectCompound(latin: string, named: FileFormat | undefined): FileFormat | null {
  if (latin.includes(ENCRYPTED)) return named && OFFICE.has(named) ? named : 'docx';
  if (latin.includes(MESSAGE) || named === 'msg') return 'msg';
  return named && OFFICE.has(named) ? named : null;
}

const ALLOWED_CONTROLS = new Set([0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1b]);

/** Whether the bytes are text in no encoding: they have zeros without a pattern, or many control characters. */
export function isBinary(head: Uint8Array): boolean {
  const startsWide = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
  const zerosAt = [0, 0, 0, 0];
  let controls = 0;
  // The loop goes by index, because an iterator can make a pair for each byte.
  for (let index = 0; index < head.length; index += 1) {
    const byte = head[index] ?? 0;
    if (byte === 0) zerosAt[index % 4] = at(zerosAt, index % 4) + 1;
    else if (byte < 0x20 && !ALLOWED_CONTROLS.has(byte)) controls += 1;
  }
  const zeros = zerosAt.reduce((sum, count) => sum + count, 0);
  if (startsWide || (head[0] === 0 && head[1] === 0 && head[2] === 0xfe && head[3] === 0xff))
    return controls > head.length / 8;
  if (zeros > 0) {
    const [first = 0, second = 0, third = 0, fourth = 0] = zerosAt;
    const even = first + third;
    const odd = second + fourth;
    const isTwoByte = zeros > head.length / 16 && Math.min(even, odd) <= zeros / 50;
    const isFourByte = zeros >= head.length * 0.7 && (first === 0 || fourth === 0);
    // One or two stray zeros in a text are tolerated.
    if (!isTwoByte && !isFourByte && zeros > Math.max(2, head.length / 1000)) return true;
  }
  return controls > Math.max(1, head.length / 50);
}
