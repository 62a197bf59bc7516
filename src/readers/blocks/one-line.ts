/** White space but U+FEFF, which JavaScript counts as such: nobody sees it, and within a word it must not divide it. */
const BLANKS = /[^\S\ufeff]+/g;

/** Makes one blank of each run of blanks and line ends. */
export const collapseBlanks = (text: string): string => text.replace(BLANKS, ' ');

/** Leaves out the blanks at both ends of a text whose blanks are single ones. */
export const trimBlanks = (text: string): string => text.replace(/^ | $/g, '');

/** Makes one line of a text, without blanks at its ends. */
export const oneLine = (text: string): string => trimBlanks(collapseBlanks(text));
