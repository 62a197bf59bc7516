import type { Rectangle } from '../../../blocks/location.js';
import type { Raster } from '../../pictures/png.js';
import { hexColor, MIN_DIFFERENCE, partsOf, type Color } from '../../visibility/colors.js';

export type Size = Pick<Rectangle, 'width' | 'height'>;

interface Region {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Tells whether nothing can be told apart within a rectangle of a page, its edges included. */
export function isEven(raster: Raster, page: Size, { x, y, width, height }: Rectangle): boolean {
  const [across, down] = [raster.width / page.width, raster.height / page.height];
  const region = {
    left: Math.max(0, Math.floor(x * across)),
    right: Math.min(raster.width - 1, Math.ceil((x + width) * across)),
    top: Math.max(0, Math.floor(y * down)),
    bottom: Math.min(raster.height - 1, Math.ceil((y + height) * down)),
  };
  return rangesIn(raster, region).every(([darkest, lightest]) => lightest - darkest < MIN_DIFFERENCE);
}

/** Tells whether all that is wholly within a rectangle of a page has nearly this colour, and there is something. */
export function isAllOf(
  raster: Raster,
  page: Size,
  { box, colour }: { readonly box: Rectangle; readonly colour: Color },
): boolean {
  const [across, down] = [raster.width / page.width, raster.height / page.height];
  const region = {
    left: Math.max(0, Math.ceil(box.x * across)),
    right: Math.min(raster.width, Math.floor((box.x + box.width) * across)) - 1,
    top: Math.max(0, Math.ceil(box.y * down)),
    bottom: Math.min(raster.height, Math.floor((box.y + box.height) * down)) - 1,
  };
  if (region.left > region.right || region.top > region.bottom) return false;
  const parts = partsOf(colour);
  return rangesIn(raster, region).every(([darkest, lightest], channel) => {
    const part = parts[channel] ?? 0;
    return part - darkest < MIN_DIFFERENCE && lightest - part < MIN_DIFFERENCE;
  });
}

/** The colour of eight hexadecimal digits: alpha, red, green, blue. */
export const colorOfItem = (digits: string | undefined): Color | undefined => hexColor(digits?.slice(2));

/** The opacity of such a colour, from 0 to 1. */
export const opacityOfItem = (digits: string | undefined): number | undefined =>
  digits === undefined ? undefined : Number.parseInt(digits.slice(0, 2), 16) / 255;

/** The least and the most of each colour's part (red, green, blue, or grey alone). */
function rangesIn({ pixels, channels, width }: Raster, { left, right, top, bottom }: Region) {
  const ranges: (readonly [number, number])[] = [];
  for (let channel = 0; channel < Math.min(3, channels); channel += 1) {
    let darkest = 255;
    let lightest = 0;
    for (let y = top; y <= bottom; y += 1)
      for (let x = left; x <= right; x += 1) {
        const value = pixels[(y * width + x) * channels + channel] ?? 0;
        darkest = Math.min(darkest, value);
        lightest = Math.max(lightest, value);
      }
    ranges.push([darkest, lightest]);
  }
  return ranges;
}
