import { at } from '../../../shared/at.js';
import type { Block } from '../extraction/block.js';
import { decodeText } from './decode-text.js';

const TOKEN = /\s*(?:([{}[\],:])|("(?:[^"\\]|\\[^])*")|([^\s{}[\],:"]+))/y;
const DEEPEST_INDENT = 8;
const LINES_AT_ONCE = 1024;

/**
 * Parses JSON, including JSON Lines. Each value gets a line with its key, in the order of the file. It reads tokens rather
 * than a tree, so that depth costs nothing, numbers keep their form, and a broken file is read up to the error.
 */
export function* parseJson(bytes: Uint8Array): Iterable<Block> {
  const text = decodeText(bytes).replace(/^\ufeff/, '');
  const reader = createLines();
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) {
    const [, punctuation, string] = match;
    if (punctuation !== undefined) reader.punctuation(punctuation);
    else reader.value(string === undefined ? at(match, 3) : unquote(string));
    if (reader.lines.length >= LINES_AT_ONCE) yield { text: `${reader.lines.splice(0).join('\n')}\n` };
    // The expression is shared, so another parser may have moved its position while this one was suspended.
    TOKEN.lastIndex = match.index + match[0].length;
  }
  reader.finish();
  yield { text: reader.lines.join('\n') };
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
  const put = (line: string): void => {
    lines.push('  '.repeat(Math.min(open.length > 0 ? open.length - 1 : 0, DEEPEST_INDENT)) + line);
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
      if (mark === '}' || mark === ']') {
        open.pop();
        if (mark === '}' && open.length <= 1 && lines.at(-1) !== '') lines.push('');
      }
    },
    finish: flush,
  };
}
