import { decodeGreen, encodePng, type Raster } from '../pictures/png.js';
import { pictureSize } from './picture-size.js';

/** Larger pictures would take too long. */
const MAX_PIXELS = 12_000_000;
const WHITE = 255;

/**
 * A PNG in grey whose content is turned clockwise around its middle, on paper of the same size; undefined for pictures of other
 * formats, of more pixels, or damaged ones.
 */
export function leaned(bytes: Uint8Array, degrees: number): Uint8Array | undefined {
  const size = pictureSize(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  if (!size || size.width * size.height > MAX_PIXELS) return undefined;
  try {
    return encodePng(turnedBy(decodeGreen(bytes), (degrees * Math.PI) / 180));
  } catch {
    return undefined;
  }
}

/** Each pixel is as dark as where it comes from, by how near the four pixels around that are. */
function turnedBy({ width, height, pixels }: Raster, angle: number): Raster {
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
      const upper = (pixels[at] ?? 0) * (1 - right) + (pixels[at + 1] ?? 0) * right;
      const lower = (pixels[at + width] ?? 0) * (1 - right) + (pixels[at + width + 1] ?? 0) * right;
      turned[row * width + column] = upper * (1 - below) + lower * below;
    }
  return { width, height, channels: 1, pixels: turned };
}
