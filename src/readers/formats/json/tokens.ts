/** A piece of JSON. Strings are decoded; numbers and other values keep the form that they have in the file. */
export interface JsonToken {
  readonly kind: 'mark' | 'value' | 'unclosed string';
  readonly text: string;
  readonly start: number;
  /** The position after it. */
  readonly end: number;
}

/** A mark, the start of a string, or another value, of whose words none has a meaning in JSON. The end of a string is looked for by itself: it may be far. */
const TOKEN = /\s*(?:([{}[\],:])|(")|([^\s{}[\],:"]+(?:[ \t]+[^\s{}[\],:"]+)*))/y;
const BACKSLASH = 0x5c;

/** Cuts JSON, or JSON Lines, into tokens, broken or not. A string without an end is the last one. */
export function* jsonTokens(text: string): Iterable<JsonToken> {
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) {
    const [, mark, , word] = match;
    const start = match.index;
    let end = start + match[0].length;
    if (mark !== undefined) yield { kind: 'mark', text: mark, start, end };
    else if (word !== undefined) yield { kind: 'value', text: word, start, end };
    else {
      const opening = end - 1;
      end = stringEnd(text, end);
      if (end === -1) {
        yield { kind: 'unclosed string', text: '', start, end: text.length };
        return;
      }
      yield { kind: 'value', text: unquote(text.slice(opening, end)), start, end };
    }
    // The expression is shared, so another parser may have moved its position while this one was suspended.
    TOKEN.lastIndex = end;
  }
}

/** The position after the quote that closes a string; -1 where there is none. */
function stringEnd(text: string, start: number): number {
  for (let quote = text.indexOf('"', start); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let escapes = quote;
    while (escapes > start && text.charCodeAt(escapes - 1) === BACKSLASH) escapes -= 1;
    if ((quote - escapes) % 2 === 0) return quote + 1;
  }
  return -1;
}

function unquote(string: string): string {
  try {
    const value: unknown = JSON.parse(string);
    return String(value);
  } catch {
    // The string contains raw line ends or wrong escapes, and is used as it is.
    return string.slice(1, -1);
  }
}
