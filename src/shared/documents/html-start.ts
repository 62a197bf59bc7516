/**
 * Whether a text begins as HTML does: `<html` or its doctype, after any number of comments and XML declarations. Read in
 * one pass by hand, since a pattern for it tries every way to divide nested comments, and these are a stranger's bytes on
 * the event loop.
 */
export function startsAsHtml(text: string): boolean {
  let at = 0;
  for (;;) {
    const end = endOfPreamble(text, at);
    if (end === null) return /^<(?:!doctype\s+html|html)[\s>]/i.test(text.slice(at));
    if (end === -1) return false;
    at = afterBlanks(text, end);
  }
}

/** Where a comment or XML declaration at `at` ends; null when there is none, -1 for one without an end. */
function endOfPreamble(text: string, at: number): number | null {
  if (text.startsWith('<!--', at)) return endAfter(text, '-->', at + 4);
  if (text.slice(at, at + 5).toLowerCase() === '<?xml') return endAfter(text, '>', at + 5);
  return null;
}

function endAfter(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found === -1 ? -1 : found + mark.length;
}

function afterBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charAt(at).trim() === '') at += 1;
  return at;
}
