/** Megabytes as people read them, of a million bytes, as sources of models count them. */
export function inMegabytes(bytes: number): string {
  const megabytes = bytes / 1e6;
  return megabytes >= 100 ? String(Math.round(megabytes)) : megabytes.toFixed(1);
}
