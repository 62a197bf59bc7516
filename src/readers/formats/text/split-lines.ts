/** Yields the lines of a text, each with its end, so that all of them joined are the text. */
export function* splitLines(text: string): Iterable<string> {
  const isMacintosh = !text.includes('\n');
  let start = 0;
  while (start < text.length) {
    const end = text.indexOf(isMacintosh ? '\r' : '\n', start);
    const next = end === -1 ? text.length : end + 1;
    yield text.slice(start, next);
    start = next;
  }
}
