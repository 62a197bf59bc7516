/** A piece of RTF. Text is kept as bytes, because the font decides how they are read. */
export type RtfToken =
  | { readonly kind: 'open' }
  | { readonly kind: 'close' }
  /** A control word, or a control symbol, whose name is one character. */
  | { readonly kind: 'control'; readonly word: string; readonly parameter: number | undefined }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array };

/** The parameter of a control word that means the same without one as with 0. */
export const numberOrZero = (parameter: number | undefined): number => parameter ?? 0;

const OPEN = { kind: 'open' } as const;
const CLOSE = { kind: 'close' } as const;
const BACKSLASH = 0x5c;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;
const MAX_WORD_LENGTH = 32;
const MAX_NUMBER_LENGTH = 10;
/** Most bytes in hexadecimal digits that are one token. */
const MAX_RUN_LENGTH = 4_096;

/** No byte is behind the end of the file. */
type Byte = number | undefined;

const isLetter = (byte: Byte): boolean =>
  byte !== undefined && (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;
const isDigit = (byte: Byte): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;
const isPlain = (byte: Byte): boolean => byte !== undefined && !isSpecial(byte);
const isSpecial = (byte: number): boolean =>
  byte === BACKSLASH || byte === BRACE_OPEN || byte === BRACE_CLOSE || byte === 0x0a || byte === 0x0d;

/**
 * Cuts RTF 1.9.1 into tokens. Binary data is skipped where it stands, and each byte is looked at once. The tokenizer of
 * rtf-stream-parser is not used: it allocates as much as a file states for binary data, and copies text at each line end.
 */
export function* rtfTokens(bytes: Uint8Array): Iterable<RtfToken> {
  let at = 0;
  for (let byte = bytes[at]; byte !== undefined; byte = bytes[at]) {
    if (byte === BRACE_OPEN || byte === BRACE_CLOSE) {
      yield byte === BRACE_OPEN ? OPEN : CLOSE;
      at += 1;
    } else if (byte === BACKSLASH) {
      const { token, end } = readControl(bytes, at + 1);
      if (token) yield token;
      at = end;
    } else if (isSpecial(byte)) at += 1;
    else {
      let end = at + 1;
      while (isPlain(bytes[end])) end += 1;
      yield { kind: 'bytes', bytes: bytes.subarray(at, end) };
      at = end;
    }
  }
}

interface ReadToken {
  readonly token: RtfToken | undefined;
  readonly end: number;
}

function readControl(bytes: Uint8Array, start: number): ReadToken {
  if (!isLetter(bytes[start])) return readSymbol(bytes, start);
  let end = start;
  while (end - start < MAX_WORD_LENGTH && isLetter(bytes[end])) end += 1;
  const word = latin(bytes, start, end);
  const numberStart = end;
  if (bytes[end] === 0x2d) end += 1;
  while (end - numberStart < MAX_NUMBER_LENGTH && isDigit(bytes[end])) end += 1;
  const parameter = Number.parseInt(latin(bytes, numberStart, end), 10);
  const hasParameter = !Number.isNaN(parameter);
  if (bytes[end] === 0x20) end += 1;
  if (word === 'bin') return { token: undefined, end: end + (hasParameter ? Math.max(0, parameter) : 0) };
  return { token: { kind: 'control', word, parameter: hasParameter ? parameter : undefined }, end };
}

/** A control symbol. `\'` writes a byte in hexadecimal digits; a backslash at a line's end is the end of a paragraph. */
function readSymbol(bytes: Uint8Array, start: number): ReadToken {
  const symbol = latin(bytes, start, start + 1);
  if (symbol !== "'") {
    const word = symbol === '\n' || symbol === '\r' ? 'par' : symbol;
    return { token: { kind: 'control', word, parameter: undefined }, end: start + 1 };
  }
  // East Asian texts consist of such bytes, so that a row of them becomes one token.
  const run: number[] = [];
  let at = start - 1;
  while (bytes[at] === BACKSLASH && bytes[at + 1] === 0x27 && run.length < MAX_RUN_LENGTH) {
    const byte = Number.parseInt(latin(bytes, at + 2, at + 4), 16);
    if (!Number.isNaN(byte)) run.push(byte);
    at += 4;
  }
  return { token: { kind: 'bytes', bytes: Uint8Array.from(run) }, end: at };
}

const latin = (bytes: Uint8Array, start: number, end: number): string =>
  String.fromCharCode(...bytes.subarray(start, end));

/** The characters that control words and symbols stand for. */
export const CHARACTERS: ReadonlyMap<string, string> = new Map([
  ['tab', '\t'],
  ['line', '\n'],
  ['lbr', '\n'],
  ['~', ' '],
  ['_', '-'],
  ['emdash', '—'],
  ['endash', '–'],
  ['bullet', '•'],
  ['lquote', '‘'],
  ['rquote', '’'],
  ['ldblquote', '“'],
  ['rdblquote', '”'],
  ['emspace', ' '],
  ['enspace', ' '],
  ['qmspace', ' '],
  ['nestcell', ' '],
  ['nestrow', '\n'],
  ['\\', '\\'],
  ['{', '{'],
  ['}', '}'],
]);
