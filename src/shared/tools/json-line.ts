/**
 * Characters that JSON leaves as they are though terminals obey them (C1 controls), or though some readers end a line
 * there.
 */
const TOLD_APART = /[\u007f-\u009f\u2028\u2029]/g;

/** A value as one line of JSON. Whatever its texts are, no reader finds another line in it, and no terminal a command. */
export const jsonLine = (value: unknown): string => `${escapeControls(JSON.stringify(value))}\n`;

/** The same JSON, with escapes in the place of these characters. */
export const escapeControls = (json: string): string =>
  json.replace(TOLD_APART, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
