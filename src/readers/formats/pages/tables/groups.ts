/** Makes groups of numbers from 0. Each number is alone at first. */
export function createGroups(count: number) {
  const parents = Array.from({ length: count }, (_, index) => index);
  /** The number that stands for the group of another. */
  const find = (index: number): number => {
    let top = index;
    for (let parent = parents[top]; parent !== undefined && parent !== top; parent = parents[top])
      top = parent;
    for (let at = index; at !== top;) {
      const next = parents[at] ?? top;
      parents[at] = top;
      at = next;
    }
    return top;
  };
  return {
    find,
    /** Joins the groups of two numbers. */
    join(one: number, other: number): void {
      const [first, second] = [find(one), find(other)];
      parents[Math.max(first, second)] = Math.min(first, second);
    },
  };
}
