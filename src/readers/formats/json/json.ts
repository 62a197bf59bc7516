import type { Block } from '../../blocks/block.js';
import { decodeText } from '../../encoding/decode-text.js';
import type { ReadContext } from '../../parser.js';
import type { ReceiptWriter } from '../../receipt/receipt-writer.js';

/** Lines of one block, which says where it stands: chunks know the lines of the file that they were made of as exactly. */
const LINES_AT_ONCE = 8;

/**
 * Parses JSON, including JSON Lines. Each value gets a line with its key, in the order of the file. It reads tokens rather
 * than a tree, so that depth costs nothing, numbers keep their form, and a broken file is read up to the error.
 */
export function* parseJson(bytes: Uint8Array, { receipt }: ReadContext): Iterable<Block> {
  const text = decodeText(bytes, { receipt }).replace(/^\ufeff/, '');
  if (isJsonLines(text)) {
    yield* readJsonLines(text, receipt);
    return;
  }
  const written = createValueLines();
  const lineAt = createLineCounter(text);
  let first = 1;
  for (const token of jsonTokens(text)) {
    if (token.kind === 'unclosed string')
      receipt.addGap('unreadable', 'A string is not closed: what follows its beginning is not read.');
    else if (token.kind === 'mark') written.mark(token.text);
    else written.value(token.text);
    if (written.lines.length >= LINES_AT_ONCE || written.lines.at(-1) === '') {
      const last = lineAt(token.start);
      yield { text: `${written.lines.splice(0).join('\n')}\n`, place: { lines: { first, last } } };
      first = lineAt(token.end);
    }
  }
  written.finish();
  yield { text: written.lines.join('\n'), place: { lines: { first, last: lineAt(text.trimEnd().length) } } };
}

/** The part of a file that tells whether it is JSON Lines. */
const LINES_SEEN = 65_536;

/** Tells whether most lines of the beginning, of which there are several, are whole lists or objects: others may be broken. */
function isJsonLines(text: string): boolean {
  const head = text.slice(0, LINES_SEEN).split('\n');
  if (text.length > LINES_SEEN) head.pop();
  const lines = head.map((line) => line.trim()).filter((line) => line !== '');
  const whole = lines.filter((line) => /^[{[]/.test(line) && isJson(line));
  return lines.length > 1 && whole.length * 2 >= lines.length;
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

/** Reads each line by itself, so that a broken one costs no other its keys. */
function* readJsonLines(text: string, receipt: ReceiptWriter): Iterable<Block> {
  let written = createValueLines();
  let first = 1;
  let number = 0;
  for (const line of linesOf(text)) {
    number += 1;
    if (!readLine(line, written)) {
      const lines = { first: number, last: number };
      receipt.addGap('unreadable', 'The line is no whole JSON: its values are read as far as it goes.', {
        lines,
      });
      written.finish();
      // The next lines stand in none of the lists and objects that are still open.
      written = createValueLines([...written.lines, '']);
    }
    if (written.lines.length < LINES_AT_ONCE) continue;
    yield { text: `${written.lines.splice(0).join('\n')}\n`, place: { lines: { first, last: number } } };
    first = number + 1;
  }
  written.finish();
  yield { text: written.lines.join('\n'), place: { lines: { first, last: Math.max(first, number) } } };
}

function* linesOf(text: string): Iterable<string> {
  const all = text.trimEnd();
  for (let start = 0; start <= all.length;) {
    const end = all.indexOf('\n', start);
    yield all.slice(start, end === -1 ? all.length : end);
    if (end === -1) return;
    start = end + 1;
  }
}

/** The values that JSON has beside strings, and the numbers that programs write although JSON has no such numbers. */
const SCALAR = /^(?:true|false|null|-?(?:NaN|Infinity)|[-+.\d][-+.\deE]*)$/;

/**
 * Tells whether the line is JSON and all that it opens is closed. A line of text, or one within a string that is not
 * closed, is read as it is.
 */
function readLine(line: string, written: ValueLines): boolean {
  const whole = line.trim();
  if (whole !== '' && !/^[{}[\],"]/.test(whole) && !SCALAR.test(whole)) {
    written.value(whole);
    return false;
  }
  let depth = 0;
  let isJson = true;
  for (const { kind, text, start, end } of jsonTokens(line)) {
    if (kind === 'unclosed string') {
      written.value(line.slice(start).trim().slice(1));
      return false;
    }
    if (kind === 'value') {
      written.value(text);
      isJson &&= line.charAt(end - 1) === '"' || SCALAR.test(text);
    } else {
      if (text === '{' || text === '[') depth += 1;
      if (text === '}' || text === ']') depth -= 1;
      if (depth < 0) return false;
      written.mark(text);
    }
  }
  return isJson && depth === 0;
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

const MAX_INDENT = 8;

/**
 * Writes a line for each value: `key: value` in objects, `- value` in lists, an empty line after each record. An object in a list
 * that is a value itself begins with a dash, too.
 */
interface ValueLines {
  /** The finished lines that were not taken yet. */
  readonly lines: string[];
  /** Adds a value, or the key of one. */
  value(text: string): void;
  /** Heeds a mark: a bracket, a colon or a comma. */
  mark(mark: string): void;
  finish(): void;
}

/** @param lines the lines that come before the written ones */
function createValueLines(lines: string[] = []): ValueLines {
  const open: string[] = [];
  let pending: string | undefined;
  let key: string | undefined;
  let isApart = false;
  let beginsItem = false;
  const put = (line: string): void => {
    lines.push(beginsItem ? `${indentOf(open.length - 1)}- ${line}` : indentOf(open.length) + line);
    beginsItem = false;
    isApart = false;
  };
  const flush = (): void => {
    if (pending === undefined && key === undefined) return;
    const mark = open.at(-1) === '[' ? '- ' : '';
    put((key === undefined ? mark : `${key}: `) + (pending ?? ''));
    [pending, key] = [undefined, undefined];
  };
  return {
    lines,
    value: (text) => {
      if (pending !== undefined) flush();
      pending = text;
    },
    mark: (mark) => {
      if (mark === ':' && key === undefined) {
        [key, pending] = [pending, undefined];
        return;
      }
      flush();
      beginsItem = mark === '{' && open.length > 1 && open.at(-1) === '[';
      if (mark === '{' || mark === '[') open.push(mark);
      if (mark === '}' || mark === ']') open.pop();
      if (mark !== '}' || open.length > 1 || isApart) return;
      lines.push('');
      isApart = true;
    },
    finish: flush,
  };
}

const indentOf = (depth: number): string => '  '.repeat(Math.min(Math.max(0, depth - 1), MAX_INDENT));

/** A piece of JSON. Strings are decoded; numbers and other values keep the form that they have in the file. */
interface JsonToken {
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
function* jsonTokens(text: string): Iterable<JsonToken> {
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
