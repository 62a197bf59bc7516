/** Counts the matches of a global pattern. */
export function countMatches(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

/**
 * The first group of a pattern's match; empty where there is no text, the pattern does not match it, or the group takes no
 * part in the match.
 */
export function firstGroup(pattern: RegExp, text: string | null | undefined): string {
  return (text == null ? undefined : pattern.exec(text)?.[1]) ?? '';
}
