import { oneLine } from '../../blocks/one-line.js';

/** Writes the state of a checkbox, or of one button of a group, as task lists of Markdown do. */
export const checkMark = (state: 'on' | 'off'): string => (state === 'on' ? '[x]' : '[ ]');

/** Writes the chosen options of a list; empty for none. */
export const chosenText = (options: readonly string[]): string =>
  options
    .map((option) => oneLine(option))
    .filter((option) => option !== '')
    .join(', ');

const BEGINS_WITH_MARK = /^\[[x ]\](?:\s|$)/;
const IS_MARK = /^\[[x ]\]$/;

/** A space where the state of a box would touch the text beside it. @param before the last of the pieces before the text */
export function gapBeside(before: { readonly text: string } | undefined, after: string): '' | ' ' {
  if (!before) return '';
  const hasMark = IS_MARK.test(before.text) || BEGINS_WITH_MARK.test(after);
  return hasMark && /\S$/.test(before.text) && /^\S/.test(after) ? ' ' : '';
}
