import type { Fill } from '../../visibility/layers.js';
import type { OfficePackage } from '../package/office-package.js';
import type { WordColors } from './colors.js';

/** A drawing that its part puts behind the text: any value of `behindDoc` but `0` and `false`, or a negative layer in VML. */
const BEHIND = /behindDoc\s{0,9}=\s{0,9}["'](?:[^0f]|0[^"']|f[^a])|z-index\s{0,9}:\s{0,9}-/;
/** A drawing that has a place of its own, which lies behind the text of pages where their head or foot has it. */
const PLACED = /<(?:\w{1,50}:)?anchor[\s>]|position\s{0,9}:\s{0,9}absolute/;

interface OtherParts {
  /** The heads and feet of pages. */
  readonly furniture: readonly string[];
  readonly notes: readonly string[];
}

/**
 * Reads the fill behind the text of pages. Nobody follows which texts lie on a drawing, so that the fill of no page is
 * known when one part of the file draws something behind text.
 */
export function readPageFill(
  office: OfficePackage,
  colors: WordColors,
  { furniture, notes }: OtherParts,
): Fill {
  const hasDrawings =
    [office.mainPart, ...notes, ...furniture].some((part) => office.mentions(part, BEHIND)) ||
    furniture.some((part) => office.mentions(part, PLACED));
  if (hasDrawings) return 'unknown';
  for (const event of office.stream(office.mainPart, (name) => name === 'w:background')) {
    if (event.type === 'element') return colors.page(event.element);
    if (event.type === 'open' && event.name === 'w:body') break;
  }
  return colors.page(undefined);
}
