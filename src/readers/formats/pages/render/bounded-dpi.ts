/** Returns the resolution that is asked for, as far as it is allowed for a page of this size in points. */
export function boundedDpi(
  { width, height }: { readonly width: number; readonly height: number },
  { dpi, pixels }: { dpi: number; pixels: number },
): number {
  const most = 72 * Math.sqrt(pixels / Math.max(1, width * height));
  return Math.max(1, Math.min(dpi, Math.floor(most)));
}
