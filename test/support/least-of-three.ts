/**
 * The least of three measurements, for what only a clock can tell: of a busy machine, the one that bothers it least. What is
 * slow by nature is slow every time. It ends with the first that is less than `enough`.
 */
export async function leastOfThree(measure: () => Promise<number>, enough: number): Promise<number> {
  let least = Infinity;
  for (let tries = 0; tries < 3 && least >= enough; tries += 1) least = Math.min(least, await measure());
  return least;
}
