/**
 * Tells whether a string consists of whole characters. JSON escapes can write halves of surrogate pairs, which are not
 * characters: UTF-8 cannot express them, different halves become the same, and the JSON reader in Redis stops at them.
 */
export const isWellFormed = (text: string): boolean => text.isWellFormed();

/**
 * Puts the replacement character in place of halves of characters, as encoding to UTF-8 does. No pattern is used, since
 * replacing eight million halves with one would take seconds.
 */
export const toWellFormed = (text: string): string => text.toWellFormed();
