import { firstGroup } from '../../blocks/matches.js';
import type { Block } from '../../blocks/block.js';
import { decodeText } from '../../encoding/decode-text.js';
import type { ReadContext } from '../../parser.js';
import { splitLines } from './text.js';

/** A paragraph of more lines is cut, so that its parts have places. */
const MAX_LINES = 50;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]|\r?\n?$)/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const UNDERLINE = /^ {0,3}(?:=+|-+)\s*$/;
const RULE = /^[\s|:-]+$/;
/** The beginning of a block that no line below can make a heading. */
const NO_PARAGRAPH = /^(?: {4}|\t| {0,3}(?:[-*+>|]|\d{1,9}[.)]\s))/;

interface Line {
  readonly text: string;
  readonly number: number;
}

/** Reads Markdown unchanged. Headings outside of code open sections, and rows of tables keep the names of their columns. */
export function* parseMarkdown(bytes: Uint8Array, { receipt }: ReadContext): Iterable<Block> {
  receipt.setParser('markdown', '1');
  const state: State = { open: [], fence: undefined, header: undefined };
  let number = 0;
  let hasTitle = false;
  for (const text of splitLines(decodeText(bytes, { receipt }))) {
    number += 1;
    for (const block of addLine(state, { text, number })) {
      if (block.heading === 1 && !hasTitle) {
        receipt.setTitle(titleOf(block.text));
        hasTitle = true;
      }
      yield block;
    }
  }
  yield* finish(state);
}

/** The lines of the open block, with the code block or table that they are in. */
interface State {
  open: Line[];
  /** The mark of the code block that is open. */
  fence: string | undefined;
  /** The lines that name the columns of the table that is open. */
  header: string | undefined;
}

/** Adds a line, and returns the blocks that are complete. */
function addLine(state: State, line: Line): Block[] {
  if (state.fence !== undefined) return addInCode(state, line, state.fence);
  const mark = FENCE.exec(line.text)?.[1];
  if (mark === undefined)
    return state.header === undefined ? addOutside(state, line) : addInTable(state, line, state.header);
  const before = finish(state);
  state.fence = mark;
  state.header = undefined;
  state.open = [line];
  return before;
}

function finish(state: State, properties: Partial<Block> = {}): Block[] {
  const [first] = state.open;
  if (!first) return [];
  const text = state.open.map((line) => line.text).join('');
  state.open = [];
  return [{ text, place: { line: first.number }, ...properties }];
}

function addInCode(state: State, line: Line, mark: string): Block[] {
  const before = state.open.length >= MAX_LINES ? finish(state) : [];
  state.open.push(line);
  const found = firstGroup(FENCE, line.text);
  if (found.startsWith(mark) && line.text.trim() === found) state.fence = undefined;
  return before;
}

function addInTable(state: State, line: Line, names: string): Block[] {
  if (line.text.includes('|')) {
    return [{ text: line.text, place: { line: line.number }, row: { header: names } }];
  }
  state.header = undefined;
  return addOutside(state, line);
}

function addOutside(state: State, line: Line): Block[] {
  const last = state.open.at(-1);
  const level = HEADING.exec(line.text)?.[1]?.length;
  if (level !== undefined) {
    const before = finish(state);
    state.open.push(line);
    return [...before, ...finish(state, { heading: level })];
  }
  if (isUnderline(line, state.open)) {
    state.open.push(line);
    return finish(state, { heading: line.text.includes('=') ? 1 : 2 });
  }
  if (last?.text.includes('|') === true && isRule(line.text)) return beginTable(state, last, line);
  const isNew = last !== undefined && isBlank(last) && !isBlank(line);
  const before = isNew || state.open.length >= MAX_LINES ? finish(state) : [];
  state.open.push(line);
  return before;
}

function beginTable(state: State, names: Line, rule: Line): Block[] {
  state.open.pop();
  const before = finish(state);
  state.open = [names, rule];
  state.header = names.text + rule.text;
  return [...before, ...finish(state, { row: { header: '' } })];
}

const isBlank = ({ text }: Line): boolean => text.trim() === '';

/** The rule below the names of columns. */
const isRule = (text: string): boolean => text.includes('-') && text.includes('|') && RULE.test(text);

/** A line of `=` or `-` makes the paragraph above it a heading. */
function isUnderline({ text }: Line, above: readonly Line[]): boolean {
  return (
    above.length > 0 &&
    above.length < 4 &&
    UNDERLINE.test(text) &&
    above.every((line) => !isBlank(line) && !NO_PARAGRAPH.test(line.text))
  );
}

/** The text of a heading without its marks. */
function titleOf(heading: string): string {
  const [line = ''] = heading.split('\n');
  let end = line.length;
  while (end > 0 && ' #\r'.includes(line.charAt(end - 1))) end -= 1;
  return line.slice(0, end).replace(/^[ #]+/, '');
}
