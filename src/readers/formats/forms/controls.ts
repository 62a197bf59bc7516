import { oneLine } from '../../blocks/one-line.js';

/** How the state of a checkbox, or of one button of a group, is written, as in task lists of Markdown. */
export const checkMark = (state: 'on' | 'off'): string => (state === 'on' ? '[x]' : '[ ]');

/** How the options of a list are written that are chosen; empty for none. */
export const chosenText = (options: readonly string[]): string =>
  options
    .map((option) => oneLine(option))
    .filter((option) => option !== '')
    .join(', ');

const BEGINS_WITH_MARK = /^\[[x ]\](?:\s|$)/;
const IS_MARK = /^\[[x ]\]$/;

/** A space where the state of a box would touch the text beside it. @param before @param after texts in a row */
export const gapBeside = (before: string, after: string): '' | ' ' =>
  (IS_MARK.test(before) || BEGINS_WITH_MARK.test(after)) && /\S$/.test(before) && /^\S/.test(after)
    ? ' '
    : '';
