/** Counts the matches of a global pattern. */
export function countMatches(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

/** The first group of a pattern's match; empty where the pattern does not match, or the group takes no part in the match. */
export function firstGroup(pattern: RegExp, text: string): string {
  return pattern.exec(text)?.[1] ?? '';
}
