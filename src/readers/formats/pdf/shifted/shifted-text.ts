import type { Shift } from '../../baseline/shift.js';

/** A text of a page in one font size on one baseline. In points, `y` from the top of the page down to the baseline. */
export interface TextRun {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly size: number;
}

/** Text that is set smaller than the text beside it, and above or below its line. */
export interface ShiftedText {
  /** Its runs, from the left: one at least. */
  readonly runs: readonly TextRun[];
  readonly text: string;
  readonly shift: Shift;
  /** The text beside which it is shifted. */
  readonly base: TextRun;
  /** The text directly before and behind it, with a blank where there is a gap. */
  readonly before: string;
  readonly after: string;
  /** The text that is shifted the other way at the same place, over or under it. */
  readonly stacked?: ShiftedText | undefined;
}
