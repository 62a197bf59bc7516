/** Removes the entries that were inserted first, which maps and sets begin with, until at most `max` are left. */
export function dropOldest<Key>(entries: Map<Key, unknown> | Set<Key>, max: number): void {
  for (const oldest of entries.keys()) {
    if (entries.size <= max) return;
    entries.delete(oldest);
  }
}
