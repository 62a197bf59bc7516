import type { Shift } from '../baseline/shift.js';

const RAISED = new Set(['sup']);
const LOWERED = new Set(['sub']);

/** Follows which of the open elements are raised and lowered. */
export function createShifts() {
  /** What holds in each open element. */
  const open: (readonly Shift[])[] = [];
  const current = (): readonly Shift[] => open.at(-1) ?? [];
  return {
    /** @param styled how its styles raise or lower an element that is not raised by its name */
    open(name: string, styled: Shift | undefined): void {
      const shift = RAISED.has(name) ? 'raised' : LOWERED.has(name) ? 'lowered' : styled;
      open.push(shift === undefined ? current() : [...current(), shift].slice(0, MOST_SHIFTS));
    },
    close: () => void open.pop(),
    /** From the outermost. */
    current,
  };
}

const MOST_SHIFTS = 4;
