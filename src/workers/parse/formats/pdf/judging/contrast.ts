import type { Rectangle } from '../../../../../shared/extraction/location.js';
import type { Raster } from '../../pictures/png.js';

export type Size = Pick<Rectangle, 'width' | 'height'>;

/** The largest difference of a colour's part (red, green or blue) within a rectangle of a page, from 0 to 255. */
export function contrast(raster: Raster, page: Size, box: Rectangle): number {
  const { pixels, channels } = raster;
  const [across, down] = [raster.width / page.width, raster.height / page.height];
  const left = Math.max(0, Math.floor(box.x * across));
  const right = Math.min(raster.width - 1, Math.ceil((box.x + box.width) * across));
  const top = Math.max(0, Math.floor(box.y * down));
  const bottom = Math.min(raster.height - 1, Math.ceil((box.y + box.height) * down));
  let most = 0;
  for (let channel = 0; channel < Math.min(3, channels); channel += 1) {
    let darkest = 255;
    let lightest = 0;
    for (let y = top; y <= bottom; y += 1)
      for (let x = left; x <= right; x += 1) {
        const value = pixels[(y * raster.width + x) * channels + channel] ?? 0;
        darkest = Math.min(darkest, value);
        lightest = Math.max(lightest, value);
      }
    most = Math.max(most, lightest - darkest);
  }
  return most;
}
