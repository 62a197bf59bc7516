/**
 * Counts the characters that have to be put in, left out or exchanged to make one list of another (Levenshtein). The columns
 * that cannot be on the shortest way are left out (Ukkonen 1985): few differences take time that grows with the length alone.
 */
export function editDistance(from: readonly string[], to: readonly string[]): number {
  for (let band = 16; ; band *= 4) {
    const distance = within(from, to, band);
    if (distance <= band) return distance;
    if (band > from.length + to.length) return distance;
  }
}

/** The distance if it is at most `band`; otherwise that or more. */
function within(from: readonly string[], to: readonly string[], band: number): number {
  const most = from.length + to.length;
  let above = Array.from({ length: to.length + 1 }, (_, column) => (column <= band ? column : most));
  for (let row = 1; row <= from.length; row += 1) {
    const next = new Array<number>(to.length + 1).fill(most);
    if (row <= band) next[0] = row;
    for (let column = Math.max(1, row - band); column <= Math.min(to.length, row + band); column += 1) {
      const exchanged = (above[column - 1] ?? most) + (from[row - 1] === to[column - 1] ? 0 : 1);
      next[column] = Math.min(exchanged, (above[column] ?? most) + 1, (next[column - 1] ?? most) + 1);
    }
    above = next;
  }
  return above[to.length] ?? most;
}
