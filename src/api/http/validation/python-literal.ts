import { exactNumber } from '../../../shared/json-values.js';

/** Deeper than any filter may be nested; it bounds the recursion. */
const MAX_DEPTH = 64;
const NUMBER = /[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y;
const PLAIN_TEXT = { "'": /[^'\\\n\r]*/y, '"': /[^"\\\n\r]*/y } as const;
const WORDS = { True: true, False: false, None: null } as const;
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\\', '\\'],
  ["'", "'"],
  ['"', '"'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['v', '\v'],
]);
const HEX_ESCAPES: ReadonlyMap<string, RegExp> = new Map([
  ['x', /[0-9a-fA-F]{2}/y],
  ['u', /[0-9a-fA-F]{4}/y],
  ['U', /[0-9a-fA-F]{8}/y],
]);

/**
 * Reads, in one pass, Python's print of a dict of strings, numbers, booleans, None, lists and dicts with string keys
 * (Python Language Reference, "Lexical analysis"). A number that a double does not hold is Infinity, as in `parseJson`.
 * @throws SyntaxError for anything else
 */
export function parsePythonDict(text: string): Record<string, unknown> {
  const reader = createReader(text);
  if (reader.peek() !== '{') throw reader.failure();
  const value = readDict(reader, 0);
  if (reader.peek() !== '') throw reader.failure();
  return value;
}

type Reader = ReturnType<typeof createReader>;

function createReader(text: string) {
  let at = 0;
  const match = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? null;
    if (found !== null) at += found.length;
    return found;
  };
  return {
    match,
    /** Returns the next character after blanks without consuming it; empty at the end. */
    peek: () => {
      match(/[ \t\n\r\f]*/y);
      return text.charAt(at);
    },
    /** Skips blanks, and consumes `expected` if it comes next. */
    takes: (expected: string) => {
      match(/[ \t\n\r\f]*/y);
      if (!text.startsWith(expected, at)) return false;
      at += expected.length;
      return true;
    },
    /** Consumes the next character, even if it is a blank. */
    next: () => text.charAt(at++),
    failure: () => new SyntaxError(`not a Python dict literal at character ${String(at)}`),
  };
}

function readValue(reader: Reader, depth: number): unknown {
  if (depth > MAX_DEPTH) throw reader.failure();
  const first = reader.peek();
  if (first === '{') return readDict(reader, depth);
  if (first === '[') return readList(reader, depth);
  if (first === "'" || first === '"') return readString(reader);
  const word = reader.match(/(?:True|False|None)(?![A-Za-z0-9_])/y);
  if (word === 'True' || word === 'False' || word === 'None') return WORDS[word];
  const number = reader.match(NUMBER);
  if (number === null) throw reader.failure();
  return exactNumber(number);
}

function readDict(reader: Reader, depth: number): Record<string, unknown> {
  const entries: [string, unknown][] = [];
  reader.takes('{');
  while (!reader.takes('}')) {
    const quote = reader.peek();
    if (quote !== "'" && quote !== '"') throw reader.failure();
    const key = readString(reader);
    if (!reader.takes(':')) throw reader.failure();
    entries.push([key, readValue(reader, depth + 1)]);
    if (!reader.takes(',') && reader.peek() !== '}') throw reader.failure();
  }
  return Object.fromEntries(entries);
}

function readList(reader: Reader, depth: number): unknown[] {
  const values: unknown[] = [];
  reader.takes('[');
  while (!reader.takes(']')) {
    values.push(readValue(reader, depth + 1));
    if (!reader.takes(',') && reader.peek() !== ']') throw reader.failure();
  }
  return values;
}

function readString(reader: Reader): string {
  const quote = reader.next() === "'" ? "'" : '"';
  const parts: string[] = [];
  for (;;) {
    const plain = reader.match(PLAIN_TEXT[quote]);
    if (plain !== null) parts.push(plain);
    const next = reader.next();
    if (next === quote) return parts.join('');
    if (next !== '\\') throw reader.failure();
    parts.push(readEscape(reader));
  }
}

function readEscape(reader: Reader): string {
  const letter = reader.next();
  const plain = ESCAPES.get(letter);
  if (plain !== undefined) return plain;
  const pattern = HEX_ESCAPES.get(letter);
  const digits = pattern ? reader.match(pattern) : null;
  const code = digits === null ? Infinity : Number.parseInt(digits, 16);
  if (code > 0x10ffff) throw reader.failure();
  return String.fromCodePoint(code);
}
