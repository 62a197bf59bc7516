import { shiftText } from './shift-text.js';
import type { Shift } from './shift.js';

/** A piece of a text that is raised and lowered as a whole. */
export interface Piece {
  readonly text: string;
  /** From the outermost: `2` in `x^(n²)` is raised twice. Empty for text on the line. */
  readonly shifts: readonly Shift[];
}

/** The deepest nesting of raised and lowered text; deeper text is written as the innermost level. */
const MAX_SHIFTS = 4;

/** Writes a text of pieces. Neighbours that are raised alike are one raised text, however a file divides it. */
export function writePieces(pieces: readonly Piece[]): string {
  return pieces.some(({ shifts }) => shifts.length > 0)
    ? writeLevel(pieces, 0)
    : pieces.map(({ text }) => text).join('');
}

/** Writes from the end, since the form of a raised text depends on the text behind it. */
function writeLevel(pieces: readonly Piece[], level: number): string {
  const groups = groupsOf(pieces, level);
  let written = '';
  let after = '';
  for (let index = groups.length - 1; index >= 0; index -= 1) {
    const group = groups[index];
    if (!group) continue;
    const text = group.shift === undefined ? rawText(group.pieces) : writeLevel(group.pieces, level + 1);
    const before = rawText(groups[index - 1]?.pieces ?? []);
    after = group.shift === undefined ? text : shiftText(text, group.shift, { before, after });
    written = after + written;
  }
  return written;
}

const rawText = (pieces: readonly Piece[]): string => pieces.map(({ text }) => text).join('');

interface Group {
  readonly shift: Shift | undefined;
  readonly pieces: Piece[];
}

function groupsOf(pieces: readonly Piece[], level: number): Group[] {
  const groups: Group[] = [];
  for (const piece of pieces) {
    if (piece.text === '') continue;
    const shift = level < MAX_SHIFTS ? piece.shifts[level] : undefined;
    const last = groups.at(-1);
    if (last && last.shift === shift) last.pieces.push(piece);
    else groups.push({ shift, pieces: [piece] });
  }
  return groups;
}
