import iconv from 'iconv-lite';

/** Encodings in which letters of two bytes stand behind a sign that announces them, and all bytes are ASCII. */
export const SEVEN_BIT: ReadonlySet<string> = new Set([
  'iso-2022-jp',
  'iso-2022-kr',
  'iso-2022-cn',
  'hz-gb-2312',
  'utf-7',
]);

/** A set of characters: the encoding that has it with the highest bit of each byte set, and the bytes before them there. */
interface CharacterSet {
  readonly encoding: string;
  readonly before: readonly number[];
  readonly width: 1 | 2;
}

const JAPANESE: CharacterSet = { encoding: 'euc-jp', before: [], width: 2 };
const JAPANESE_MORE: CharacterSet = { encoding: 'euc-jp', before: [0x8f], width: 2 };
const HALF_KATAKANA: CharacterSet = { encoding: 'euc-jp', before: [0x8e], width: 1 };
const CHINESE: CharacterSet = { encoding: 'gb18030', before: [], width: 2 };
const KOREAN: CharacterSet = { encoding: 'cp949', before: [], width: 2 };

/** The character sets that escape sequences announce (ISO 2022, RFC 1468, RFC 1554, RFC 1557, RFC 1922); null is ASCII. */
const ANNOUNCED: Readonly<Record<string, CharacterSet | null>> = {
  '(B': null,
  '(J': null,
  '(I': HALF_KATAKANA,
  $B: JAPANESE,
  '$@': JAPANESE,
  '$(B': JAPANESE,
  '$(D': JAPANESE_MORE,
  '$(Q': JAPANESE,
  $A: CHINESE,
  '$(A': CHINESE,
  '$(C': KOREAN,
};
/** The character sets announced for use behind the sign that shifts out. */
const SHIFTED: Readonly<Record<string, CharacterSet>> = { '$)A': CHINESE, '$)C': KOREAN };

const ESCAPE = /^\$?[()]?[A-Z@]/;
const SHIFT_OUT = 0x0e;
const SHIFT_IN = 0x0f;
const ESCAPE_BYTE = 0x1b;
const LINE_FEED = 0x0a;
const TILDE = 0x7e;

/** The encoding that escape sequences announce, in bytes that are all ASCII; undefined where there are none. */
export function announcedEncoding(bytes: Buffer): string | undefined {
  const at = bytes.indexOf(ESCAPE_BYTE);
  if (at === -1) return undefined;
  const sequence = escapeAt(bytes, at);
  if (sequence === undefined) return undefined;
  const shifted = SHIFTED[sequence];
  if (shifted) return shifted === KOREAN ? 'iso-2022-kr' : 'iso-2022-cn';
  return sequence in ANNOUNCED && sequence.startsWith('$') ? 'iso-2022-jp' : undefined;
}

const escapeAt = (bytes: Buffer, at: number): string | undefined =>
  ESCAPE.exec(bytes.toString('latin1', at + 1, at + 5))?.[0];

export function decodeSevenBit(bytes: Buffer, encoding: string): string {
  if (encoding === 'utf-7') return iconv.decode(bytes, 'utf-7');
  return encoding === 'hz-gb-2312' ? decodeHz(bytes) : decodeIso2022(bytes, encoding);
}

function decodeIso2022(bytes: Buffer, encoding: string): string {
  const text = createSevenBitText();
  let inside: CharacterSet | null = null;
  let shiftedOut: CharacterSet = encoding === 'iso-2022-cn' ? CHINESE : KOREAN;
  let isShifted = false;
  for (let at = 0; at < bytes.length;) {
    const byte = bytes.readUInt8(at);
    const sequence = byte === ESCAPE_BYTE ? escapeAt(bytes, at) : undefined;
    if (sequence !== undefined) {
      inside = ANNOUNCED[sequence] ?? null;
      shiftedOut = SHIFTED[sequence] ?? shiftedOut;
      at += sequence.length + 1;
      continue;
    }
    // A line ends in ASCII, whether it says so or not.
    if (byte === LINE_FEED) inside = null;
    if (byte === LINE_FEED || byte === SHIFT_IN) isShifted = false;
    if (byte === SHIFT_OUT) isShifted = true;
    if (byte !== SHIFT_IN && byte !== SHIFT_OUT) at = text.add(bytes, at, isShifted ? shiftedOut : inside);
    else at += 1;
  }
  return text.end();
}

/** HZ (RFC 1843): Chinese stands between `~{` and `~}`. */
function decodeHz(bytes: Buffer): string {
  const text = createSevenBitText();
  let inside: CharacterSet | null = null;
  for (let at = 0; at < bytes.length;) {
    const mark = bytes[at] === TILDE ? bytes.toString('latin1', at + 1, at + 2) : '';
    if (mark === '{' || mark === '}' || mark === '\n') {
      inside = mark === '{' ? CHINESE : null;
      at += 2;
      continue;
    }
    if (bytes[at] === LINE_FEED) inside = null;
    at = text.add(bytes, mark === '~' && !inside ? at + 1 : at, inside);
  }
  return text.end();
}

/** The number of bytes that are decoded together; a number for each byte of a large file would not fit into the heap. */
const DECODED_AT_ONCE = 65_536;
/** The longest character, with the bytes before it. */
const MAX_LENGTH = 3;

/** Collects bytes, and decodes consecutive bytes of one encoding together. */
function createSevenBitText() {
  let text = '';
  const pending = Buffer.alloc(DECODED_AT_ONCE);
  let length = 0;
  let encoding = 'latin1';
  const flush = (): void => {
    text += iconv.decode(pending.subarray(0, length), encoding);
    length = 0;
  };
  const push = (byte: number): void => {
    pending[length] = byte;
    length += 1;
  };
  return {
    /** Adds the character at a place, and returns the place behind it. */
    add: (bytes: Buffer, at: number, set: CharacterSet | null): number => {
      const byte = bytes.readUInt8(at);
      const isCharacter = set !== null && isGraphic(byte) && (set.width === 1 || isGraphic(bytes[at + 1]));
      // ASCII is the same in all of these, so that blanks between words do not part them.
      const other = byte < 0x80 ? encoding : 'latin1';
      const next = isCharacter ? set.encoding : other;
      if (next !== encoding || length > DECODED_AT_ONCE - MAX_LENGTH) flush();
      encoding = next;
      if (!isCharacter) {
        push(byte);
        return at + 1;
      }
      for (const before of set.before) push(before);
      for (let place = at; place < at + set.width; place += 1) push(bytes.readUInt8(place) | 0x80);
      return at + set.width;
    },
    end: (): string => {
      flush();
      return text;
    },
  };
}

const isGraphic = (byte: number | undefined): boolean => byte !== undefined && byte > 0x20 && byte < 0x7f;
