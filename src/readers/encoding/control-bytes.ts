/**
 * Tells whether a byte is a control character that texts do not have: all but blanks and the signs of terminals and manual
 * pages (bell, backspace, escape). An old file of DOS may have one at its end (0x1A).
 */
export const isControl = (byte: number): boolean =>
  byte < 0x07 || (byte > 0x0d && byte < 0x20 && byte !== 0x1b);

/** Tells whether a byte is for terminals and manual pages, which have bell, backspace and escape between letters. */
export const isForTerminals = (byte: number): boolean => byte === 0x07 || byte === 0x08 || byte === 0x1b;
