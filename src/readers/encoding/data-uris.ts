/** The beginning of a data URI (RFC 2397); in JSON, the slash of its type may be escaped. */
const URI =
  /(?<![a-z0-9_.-])data:(?:([a-z0-9.+-]{1,40})\\?\/([a-z0-9.+-]{1,100}))?(?:;[a-z0-9_.-]{1,40}=[^\s;,"'<>\\]{1,100}|;(?:utf-?8|us-ascii)){0,4}(;base64)?,/i;
/** Shorter ones stay: they are examples, or say no more than a word. */
const MIN = { base64: 24, other: 64, text: 200 };
/** The least number of base64 characters in a line that continues base64. */
const MIN_OF_LINE = 16;
const QUOTES = `"'\``;

/** The beginnings of files in Base64 that nothing else announces as files. */
const FILES: readonly (readonly [start: RegExp, type: string])[] = [
  [/iVBORw0KGgo/, 'image/png'],
  [/\\?\/9j\\?\/[2-4]/, 'image/jpeg'],
  [/R0lGOD[dl]h/, 'image/gif'],
  [/UklGR[A-Za-z0-9+/]{10}(?:BXRUJQ|XRUJQ|dFQlA)/, 'image/webp'],
  [/SUkqA|TU0AK/, 'image/tiff'],
  [/JVBERi0/, 'application/pdf'],
  [/UEsDB[AB]/, 'application/zip'],
  [/H4sI[A-Za-z]/, 'application/gzip'],
  [/0M8R4KGxGuE/, 'application/x-ole-storage'],
  [/d09G[MR]/, 'font/woff'],
  [/SUQz[AB]/, 'audio/mpeg'],
];
/** Whatever holds a file and no words. */
const START = new RegExp(
  `${URI.source}|(?<![a-z0-9+/=])(${FILES.map(([start]) => start.source).join('|')})`,
  'gi',
);
const MIN_FILE = 400;

interface LeftOut {
  /** The media type, such as `image/png`. */
  readonly type: string;
  readonly isUri: boolean;
  /** In characters, as the URI is written. */
  readonly length: number;
}

/**
 * Leaves the data URIs and the files in Base64 out of a text, which hold no words, and tells of each. The latter stay where
 * the format has a place for them (`hasKnownFiles`). Line breaks in them stay, so that the following text keeps its line.
 * It takes time in proportion to the text.
 */
export function withoutDataUris(
  text: string,
  tell: (uri: LeftOut) => void,
  { hasKnownFiles = false } = {},
): string {
  let kept = '';
  let from = 0;
  START.lastIndex = 0;
  for (let start = START.exec(text); start; start = START.exec(text)) {
    const file = fileType(start[4]);
    if (start[4] !== undefined && (file === undefined || hasKnownFiles)) continue;
    const body = file === undefined ? start.index + start[0].length : start.index;
    const isBase64 = file !== undefined || start[3] !== undefined;
    const end = isBase64 ? endOfBase64(text, body) : endOfQuoted(text, start.index, body);
    const kind = (start[1] ?? 'text').toLowerCase();
    const least =
      file !== undefined ? MIN_FILE : isBase64 ? MIN.base64 : kind === 'text' ? MIN.text : MIN.other;
    if (end - body < least) continue;
    const type = file ?? `${kind}/${(start[2] ?? 'plain').toLowerCase()}`;
    tell({ type, isUri: file === undefined, length: end - start.index });
    kept += text.slice(from, start.index) + lineEnds(text.slice(body, end));
    from = end;
    START.lastIndex = end;
  }
  return from === 0 ? text : kept + text.slice(from);
}

/** The type of a file that begins so; large and small letters differ in Base64. */
const fileType = (start = ''): string | undefined =>
  start === '' ? undefined : FILES.find(([pattern]) => pattern.test(start))?.[1];

/** A pattern that runs over all the other characters at once would overflow the stack with megabytes of them. */
const lineEnds = (text: string): string => Array.from(text.matchAll(/[\r\n]/g), ([end]) => end).join('');

function endOfBase64(text: string, start: number): number {
  let end = start;
  for (;;) {
    end = endOfLetters(text, end);
    const next = /^(?:\r?\n|(?:\\r)?\\n)[ \t]*/.exec(text.slice(end, end + 100))?.[0];
    if (next === undefined) return end;
    const last = endOfLetters(text, end + next.length);
    if (last - end - next.length < MIN_OF_LINE || !/^[\s"'`)<\\]?$/.test(text.charAt(last))) return end;
    // Words without a blank between them are no base64: a line of base64 has large letters, small letters and digits.
    const line = text.slice(end + next.length, Math.min(last, end + next.length + 100));
    if (!/[A-Z]/.test(line) || !/[a-z]/.test(line) || !/[\d+/=]/.test(line)) return end;
    end = last;
  }
}

/** Returns the end of the letters of base64, as they are or escaped for an address or JSON. */
function endOfLetters(text: string, start: number): number {
  let at = start;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) {
      if (text.charAt(at + 1) === '/') at += 1;
      else if (/^u00(?:2b|2f|3d)/i.test(text.slice(at + 1, at + 6))) at += 5;
      else return at;
    } else if (code > 0x7a || !IS_LETTER[code]) return at;
  }
  return Math.min(at, text.length);
}

const BACKSLASH = 0x5c;
const IS_LETTER = Array.from({ length: 0x7b }, (_, code) => /[\w+/=%-]/.test(String.fromCharCode(code)));

/**
 * Returns the end of a URI that is not in base64: the end of the quote or bracket that it begins behind, else the place
 * before the first character that no URI has.
 */
function endOfQuoted(text: string, start: number, body: number): number {
  const before = text.charAt(start - 1);
  const isEscaped = text.charAt(start - 2) === '\\';
  const closed =
    QUOTES.includes(before) && before !== '' ? endAtQuote(text, body, { quote: before, isEscaped }) : -1;
  return closed === -1 ? endOfAddress(text, body) : closed;
}

function endAtQuote(
  text: string,
  body: number,
  { quote, isEscaped }: { quote: string; isEscaped: boolean },
): number {
  for (let at = body; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '\n' || character === '\r') return -1;
    if (character !== quote) continue;
    const isAfterBackslash = text.charAt(at - 1) === '\\';
    if (isAfterBackslash === isEscaped) return isEscaped ? at - 1 : at;
  }
  return -1;
}

function endOfAddress(text: string, body: number): number {
  let open = 0;
  for (let at = body; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '(') open += 1;
    else if (character === ')') open -= 1;
    if (open < 0 || /[\s"<>`]/.test(character)) return text.charAt(at - 1) === '\\' ? at - 1 : at;
  }
  return text.length;
}
