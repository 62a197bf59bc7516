/** Without a change for so long, none is expected. */
const QUIET_MILLISECONDS = 250;

/**
 * Returns a function that tells whether nothing has changed for a while. It must be called often, since a change is taken
 * to be as old as the first call after it.
 *
 * @param changes returns the number of changes so far
 */
export function createQuietTimes(changes: () => number, now: () => number = Date.now): () => boolean {
  let seen = changes();
  let changedAt = now();
  return () => {
    if (changes() !== seen) {
      seen = changes();
      changedAt = now();
    }
    return now() - changedAt >= QUIET_MILLISECONDS;
  };
}
