/** Pixels in rows from the top, with 1 (grey), 3 (RGB) or 4 (RGBA) bytes each. */
export interface Raster {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
  readonly pixels: Uint8Array;
}

const WHITE = 255;

/**
 * A raster in grey whose content is turned clockwise around its middle, on paper of the same size. Each pixel is as dark as
 * where it comes from, by how near the four pixels around that are. @param angle in radians
 */
export function turnedBy({ width, height, pixels }: Raster, angle: number): Raster {
  const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
  const turned = new Uint8Array(width * height).fill(WHITE);
  for (let row = 0; row < height; row += 1)
    for (let column = 0; column < width; column += 1) {
      const [across, down] = [column - width / 2, row - height / 2];
      const x = across * cos + down * sin + width / 2;
      const y = down * cos - across * sin + height / 2;
      const [left, top] = [Math.floor(x), Math.floor(y)];
      if (left < 0 || top < 0 || left + 1 >= width || top + 1 >= height) continue;
      const at = top * width + left;
      const [right, below] = [x - left, y - top];
      const upper = pixels[at] * (1 - right) + pixels[at + 1] * right;
      const lower = pixels[at + width] * (1 - right) + pixels[at + width + 1] * right;
      turned[row * width + column] = upper * (1 - below) + lower * below;
    }
  return { width, height, channels: 1, pixels: turned };
}

/** A part of a raster, in pixels; its edges are in it. */
interface Region {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** The least and the most of each colour's part (red, green, blue, or grey alone) in a region, as far as it is on the page. */
export function rangesIn({ pixels, channels, width, height }: Raster, region: Region) {
  const ranges: (readonly [number, number])[] = [];
  const [left, top] = [Math.max(0, region.left), Math.max(0, region.top)];
  const [right, bottom] = [Math.min(width - 1, region.right), Math.min(height - 1, region.bottom)];
  for (let channel = 0; channel < Math.min(3, channels); channel += 1) {
    let darkest = 255;
    let lightest = 0;
    for (let y = top; y <= bottom; y += 1)
      for (let x = left; x <= right; x += 1) {
        const value = pixels[(y * width + x) * channels + channel];
        darkest = Math.min(darkest, value);
        lightest = Math.max(lightest, value);
      }
    ranges.push([darkest, lightest]);
  }
  return ranges;
}

/** Multiplies the pixels of a region by a colour of red, green and blue, as far as it is on the page: black stays black. */
export function multiply(
  { width, height, channels, pixels }: Raster,
  region: Region,
  color: readonly [number, number, number],
): void {
  const [left, top] = [Math.max(0, region.left), Math.max(0, region.top)];
  const [right, bottom] = [Math.min(width - 1, region.right), Math.min(height - 1, region.bottom)];
  const parts = Math.min(color.length, channels);
  for (let y = top; y <= bottom; y += 1)
    for (let x = left; x <= right; x += 1)
      for (let part = 0; part < parts; part += 1) {
        const at = (y * width + x) * channels + part;
        pixels[at] = (pixels[at] * color[part]) / 255;
      }
}
