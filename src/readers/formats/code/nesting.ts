const MAX_HEADING_DEPTH = 6;

/** Tells levels of declarations by their indentation: a declaration that is indented further is within the one before. */
export function createNesting(): { levelOf(indentation: number): number } {
  const open: number[] = [];
  return {
    levelOf(indentation) {
      while (open.length > 0 && (open.at(-1) ?? 0) >= indentation) open.pop();
      open.push(indentation);
      return Math.min(open.length, MAX_HEADING_DEPTH);
    },
  };
}
