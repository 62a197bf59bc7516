import { firstGroup } from '../blocks/matches.js';
import { at } from '../../shared/at.js';
/** The first line of a file as uuencode writes it (POSIX), with its end: its mode and its name. */
const BEGIN = /^begin(?:-base64)? 0?[0-7]{3} ([^\r\n\u2028\u2029]{1,255})(?:\r\n?|\n)/gm;
/** Fits everywhere, since a search that fails would begin anew at the start of the text. */
const LINE = /([^\r\n]*)(?:\r\n?|\n|$)/y;
/** Fewer lines than these, the empty one and `end` among them, are an example. */
const MIN_LINES = 3;
/** Spaces that mail programs have cut at the end of a line. */
const MAX_CUT = 8;

interface LeftOut {
  readonly name: string;
  /** In characters, as the file is written. */
  readonly length: number;
}

/**
 * Leaves the files out of a text that were written into it by uuencode, as mails before MIME have them, and tells of each.
 * Their line ends stay, so that the following text keeps its line. It takes time in proportion to the text.
 */
export function withoutUuencoded(text: string, tell: (file: LeftOut) => void): string {
  let kept = '';
  let from = 0;
  BEGIN.lastIndex = 0;
  for (let start = BEGIN.exec(text); start; start = BEGIN.exec(text)) {
    const end = endOfFile(text, BEGIN.lastIndex, start[0].startsWith('begin-'));
    if (end === null) continue;
    tell({ name: at(start, 1).trim(), length: end.at - start.index });
    kept += text.slice(from, start.index) + '\n'.repeat(end.lines);
    from = end.at;
    BEGIN.lastIndex = end.at;
  }
  return from === 0 ? text : kept + text.slice(from);
}

/**
 * Returns the end of the file whose first line ends at `start`; null where no file follows. A file may be cut, or lack its
 * last line.
 */
function endOfFile(
  text: string,
  start: number,
  isBase64: boolean,
): { readonly at: number; readonly lines: number } | null {
  let at = start;
  let lines = 1;
  while (at < text.length) {
    LINE.lastIndex = at;
    const line = firstGroup(LINE, text);
    const isLast = isBase64 ? line === '====' : line === 'end';
    // The last line of a file is a blank for no bytes, which may be cut.
    const isEmpty = !isBase64 && line === '' && /^end\b/.test(text.slice(LINE.lastIndex, LINE.lastIndex + 4));
    if (!isLast && !isEmpty && !isDataLine(line, isBase64)) break;
    at = LINE.lastIndex;
    lines += 1;
    if (isLast) break;
  }
  return lines > MIN_LINES ? { at, lines } : null;
}

function isDataLine(line: string, isBase64: boolean): boolean {
  if (isBase64) return line.length >= 4 && /^[\w+/]{2,100}={0,2}$/.test(line);
  if (line === '') return false;
  // The first character gives the number of bytes in the line; three bytes are four characters.
  const bytes = (line.charCodeAt(0) - 0x20) & 0x3f;
  const length = 1 + 4 * Math.ceil(bytes / 3);
  // Some write one more character, a check or a blank.
  if (line.length > length + 1 || line.length < length - MAX_CUT) return false;
  return /^[ -`]+$/.test(line);
}
