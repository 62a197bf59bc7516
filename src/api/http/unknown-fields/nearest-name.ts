/** Longer names are no slips of the pen; this bounds the work of a comparison. */
const MAX_CHARACTERS = 64;
/** A name is near if at most this share of its letters differs. */
const NEAR = 0.4;

/** Returns the name that was most likely meant; null where none is near. Case, `_` and `-` make no difference. */
export function nearestName(name: string, known: readonly string[]): string | null {
  if (name.length > MAX_CHARACTERS) return null;
  const wanted = plain(name);
  let best: { readonly name: string; readonly share: number } | null = null;
  for (const each of known) {
    const other = plain(each);
    const share = distance(wanted, other) / Math.max(wanted.length, other.length, 1);
    if (share <= NEAR && share < (best?.share ?? Infinity)) best = { name: each, share };
  }
  return best?.name ?? null;
}

const plain = (name: string): string => name.toLowerCase().replace(/[-_\s]/g, '');

/** Returns the number of letters to put in, leave out, replace or swap with their neighbour (optimal string alignment). */
function distance(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = cell(last, j - 1) + Number(a[i - 1] !== b[j - 1]);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? cell(before, j - 2) + 1 : Infinity;
      row.push(Math.min(cell(last, j) + 1, cell(row, j - 1) + 1, replaced, swapped));
    }
    [before, last] = [last, row];
  }
  return cell(last, b.length);
}

const cell = (row: readonly number[], at: number): number => row[at] ?? Infinity;
