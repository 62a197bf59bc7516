import type { Shift } from '../baseline/shift.js';
import { valueOrEmpty, UNKNOWN, type Declarations } from './declarations.js';
import { isBox } from './look.js';

const RAISED = new Set(['sup']);
const LOWERED = new Set(['sub']);

/** Follows which of the open elements are raised and lowered. */
export function createShifts() {
  /** The shifts that hold in each open element. */
  const open: (readonly Shift[])[] = [];
  const current = (): readonly Shift[] => open.at(-1) ?? [];
  return {
    /** @param styled how its styles raise or lower an element that is not raised by its name */
    open(name: string, styled: Shift | undefined): void {
      const shift = RAISED.has(name) ? 'raised' : LOWERED.has(name) ? 'lowered' : styled;
      open.push(shift === undefined ? current() : [...current(), shift].slice(0, MAX_SHIFTS));
    },
    close: () => void open.pop(),
    /** From the outermost. */
    current,
  };
}

const MAX_SHIFTS = 4;

const CELLS = new Set(['td', 'th', 'tr', 'tbody', 'thead', 'tfoot', 'table', 'img']);
const SHIFTS: ReadonlyMap<string, Shift> = new Map([
  ['super', 'raised'],
  ['sub', 'lowered'],
]);
/** The least moves of small text that is raised or lowered, and not only set a little higher, by units. */
const MIN_MOVES: ReadonlyMap<string, number> = new Map([
  ['em', 0.2],
  ['rem', 0.2],
  ['ex', 0.4],
  ['%', 20],
  ['px', 3],
  ['pt', 2],
]);
/** Beyond this, in the size of letters, text stands at another place. */
const FARTHEST = 1.2;
const LENGTH = /^([+-]?(?:\d+(?:\.\d+)?|\.\d+))(em|rem|ex|%|px|pt)$/;
const SMALLER = /^(?:0?\.\d+r?em|[1-8]?\d(?:\.\d+)?%|9[0-4](?:\.\d+)?%|smaller|(?:x{1,2}-)?small)$/;
const ABSOLUTE = /^\d+(?:\.\d+)?(?:px|pt)$/;

/** Returns the shift that styles give an element. Cells and boxes are aligned otherwise. */
export function styledShift(name: string, declared: Declarations): Shift | undefined {
  if (CELLS.has(name) || isBox(name, declared)) return undefined;
  const align = valueOrEmpty(declared, 'vertical-align');
  return SHIFTS.get(align) ?? (isSmall(declared) ? movedBy(declared, align) : undefined);
}

/** Books of LibreOffice move letters, and so do many pages, where others align them. */
function movedBy(declared: Declarations, align: string): Shift | undefined {
  const isMoved = declared.get('position') === 'relative';
  return (
    shiftBy(align, 1) ??
    (isMoved
      ? (shiftBy(valueOrEmpty(declared, 'bottom'), 1) ?? shiftBy(valueOrEmpty(declared, 'top'), -1))
      : undefined)
  );
}

/** @param sign 1 where a length is one upwards */
function shiftBy(length: string, sign: 1 | -1): Shift | undefined {
  const [, number = '', unit = ''] = LENGTH.exec(length) ?? [];
  const move = Number(number) * sign;
  const isFar = (unit === 'em' || unit === 'rem') && Math.abs(move) > FARTHEST;
  if (number === '' || isFar || Math.abs(move) < (MIN_MOVES.get(unit) ?? Infinity)) return undefined;
  return move > 0 ? 'raised' : 'lowered';
}

/** Tells whether text is smaller than the text around it, as raised and lowered text is, as far as that is told. */
function isSmall(declared: Declarations): boolean {
  const size = declared.get('font-size') ?? UNKNOWN;
  return SMALLER.test(size) || ABSOLUTE.test(size);
}
