/**
 * Whether a string is made of whole characters. Halves of surrogate pairs, which escapes of JSON can write, are none: UTF-8
 * cannot say them, two different ones become the same, and the reader of JSON within Redis stops at them.
 */
export const isWellFormed = (text: string): boolean => text.isWellFormed();

/**
 * With the replacement character for what is no character, as encoding to UTF-8 does. Not by a pattern: eight million halves
 * would hold up whoever replaces them for seconds.
 */
export const toWellFormed = (text: string): string => text.toWellFormed();
