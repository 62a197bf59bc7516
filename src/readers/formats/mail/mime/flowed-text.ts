/**
 * Joins the lines of text that says `format=flowed` (RFC 3676): a line that ends with a blank goes on in the next one,
 * unless the next one is quoted more or less deeply.
 * @param deletesBlanks whether these blanks are no part of the text (`DelSp=yes`)
 */
export function joinFlowedLines(text: string, { deletesBlanks }: { deletesBlanks: boolean }): string {
  const lines: string[] = [];
  let open: { readonly depth: number; readonly pieces: string[] } | undefined;
  const close = (): void => {
    if (open) lines.push(`${'>'.repeat(open.depth)}${open.depth > 0 ? ' ' : ''}${open.pieces.join('')}`);
    open = undefined;
  };
  for (const line of text.split(/\r?\n/)) {
    const depth = /^>*/.exec(line)?.[0].length ?? 0;
    const content = line.slice(depth).replace(/^ /, '');
    if (open && open.depth !== depth) close();
    open ??= { depth, pieces: [] };
    const isFlowed = content.endsWith(' ') && content !== '-- ';
    open.pieces.push(isFlowed && deletesBlanks ? content.slice(0, -1) : content);
    if (!isFlowed) close();
  }
  close();
  return lines.join('\n');
}
