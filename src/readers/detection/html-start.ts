/**
 * Tells whether a text begins as HTML does: with `<html` or its doctype, after any number of comments and XML declarations.
 * One pass by hand reads it: a pattern would try every way to divide nested comments, and strangers send these bytes to the
 * event loop.
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

/** The end of a comment or XML declaration at `at`; null when there is none, -1 when it does not end. */
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
