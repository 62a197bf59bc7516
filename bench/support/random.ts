/** Returns a function that draws a whole number below a limit, the same ones in every run (Park and Miller 1988). */
export function createRandom(): (limit: number) => number {
  let state = 1;
  return (limit) => (state = (state * 48_271) % 2_147_483_647) % limit;
}
