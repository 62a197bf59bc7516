import { at } from '../../../shared/at.js';
import type { Block } from '../extraction/block.js';
import { decodeText } from './decode-text.js';
import type { ParseContext } from './parser.js';

/** A mark, the start of a string, or another value. The end of a string is looked for by itself: it may be far. */
const TOKEN = /\s*(?:([{}[\],:])|(")|([^\s{}[\],:"]+))/y;
const BACKSLASH = 0x5c;
const DEEPEST_INDENT = 8;
/** Lines of one block, which says where it stands: chunks know the lines of the file that they were made of as exactly. */
const LINES_AT_ONCE = 8;

/**
 * Parses JSON, including JSON Lines. Each value gets a line with its key, in the order of the file. It reads tokens rather
 * than a tree, so that depth costs nothing, numbers keep their form, and a broken file is read up to the error.
 */
export function* parseJson(bytes: Uint8Array, { receipt }: ParseContext): Iterable<Block> {
  const text = decodeText(bytes).replace(/^\ufeff/, '');
  const reader = createLines();
  const lineAt = createLineCounter(text);
  let first = 1;
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) {
    const [, punctuation, quote] = match;
    let end = match.index + match[0].length;
    if (punctuation !== undefined) reader.punctuation(punctuation);
    else if (quote === undefined) reader.value(at(match, 3));
    else {
      const start = end - 1;
      end = stringEnd(text, end);
      if (end === -1) {
        receipt.addGap('unreadable', 'A string is not closed: what follows its beginning is not read.');
        break;
      }
      reader.value(unquote(text.slice(start, end)));
    }
    if (reader.lines.length >= LINES_AT_ONCE || reader.lines.at(-1) === '') {
      const last = lineAt(match.index);
      yield { text: `${reader.lines.splice(0).join('\n')}\n`, place: { lines: { first, last } } };
      first = lineAt(end);
    }
    // The expression is shared, so another parser may have moved its position while this one was suspended.
    TOKEN.lastIndex = end;
  }
  reader.finish();
  yield { text: reader.lines.join('\n'), place: { lines: { first, last: lineAt(text.trimEnd().length) } } };
}

/** Tells the number of the line of a position. @param position rises from call to call */
function createLineCounter(text: string): (position: number) => number {
  let line = 1;
  let next = text.indexOf('\n');
  return (position) => {
    while (next !== -1 && next < position) {
      line += 1;
      next = text.indexOf('\n', next + 1);
    }
    return line;
  };
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

/** Converts tokens to lines: `key: value` in objects, `- value` in lists. */
function createLines() {
  const lines: string[] = [];
  const open: string[] = [];
  let pending: string | undefined;
  let key: string | undefined;
  let isApart = false;
  const put = (line: string): void => {
    lines.push('  '.repeat(Math.min(open.length > 0 ? open.length - 1 : 0, DEEPEST_INDENT)) + line);
    isApart = false;
  };
  const flush = (): void => {
    if (pending === undefined && key === undefined) return;
    const value = pending ?? '';
    if (key !== undefined) put(`${key}: ${value}`);
    else put(open.at(-1) === '[' ? `- ${value}` : value);
    pending = undefined;
    key = undefined;
  };
  return {
    lines,
    value(text: string): void {
      if (pending !== undefined) flush();
      pending = text;
    },
    punctuation(mark: string): void {
      if (mark === ':') {
        key = pending;
        pending = undefined;
        return;
      }
      flush();
      if (mark === '{' || mark === '[') open.push(mark);
      if (mark === '}' || mark === ']') open.pop();
      if (mark !== '}' || open.length > 1 || isApart) return;
      lines.push('');
      isApart = true;
    },
    finish: flush,
  };
}
