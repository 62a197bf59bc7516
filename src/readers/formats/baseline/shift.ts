/** The place of a piece of text: above the line (superscript) or below it (subscript). */
export type Shift = 'raised' | 'lowered';

/** The text on both sides of a raised or lowered one, as far as it is known; a few dozen characters are enough. */
export interface Around {
  readonly before: string;
  readonly after: string;
}
