import type { Color } from '../visibility/colors.js';
import type { Fill } from '../visibility/layers.js';
import type { Unseen } from '../visibility/reason-unseen.js';
import type { Attributes } from '../xml/read-markup.js';
import { isShape, shapeFill } from './slides/shape-layers.js';
import type { SlideGround } from './slides/slide-ground.js';
import type { Look, Styles } from './styles.js';

/** Families of the styles of elements that may have a background behind the text in them. */
const FAMILIES: ReadonlyMap<string, string> = new Map([
  ['text:section', 'section'],
  ['table:table', 'table'],
  ['table:table-row', 'table-row'],
  ['table:table-cell', 'table-cell'],
]);
/** Follows open elements, and knows the colour behind the text in them. */
export interface GroundTracker {
  open(name: string, attributes: Attributes): void;
  close(name: string): void;
  /** Undefined when it is not known. */
  readonly behind: () => Color | undefined;
  /** Returns the reason why nothing of the open elements is seen; undefined when they are seen. */
  readonly reasonAround: () => Unseen | undefined;
}

/** @param slideGround tells the ground behind the text of shapes where there are slides */
export function createGrounds(styles: Styles, slideGround?: SlideGround): GroundTracker {
  const grounds: (Color | 'unknown')[] = [];
  const behind = (): Color | undefined => {
    const ground = grounds.at(-1) ?? styles.pageColor();
    return ground === 'unknown' ? undefined : ground;
  };
  return {
    open: (name, attributes) => {
      slideGround?.open(name);
      if (isShape(name))
        grounds.push(
          slideGround ? (slideGround.behind() ?? 'unknown') : frameGround(shapeFill(styles, attributes)),
        );
      const family = FAMILIES.get(name);
      if (family === undefined) return;
      const look = styles.look(family, attributes['table:style-name'] ?? attributes['text:style-name']);
      const isTemplate = attributes['table:template-name'] !== undefined;
      grounds.push(isTemplate ? 'unknown' : (cellGround(look) ?? behind() ?? 'unknown'));
    },
    close: (name) => {
      if (isShape(name) || FAMILIES.has(name)) grounds.pop();
      slideGround?.close(name);
    },
    behind,
    reasonAround: () => slideGround?.reason(),
  };
}

/** Without slides, the places of frames are not compared. */
const frameGround = (fill: Fill): Color | 'unknown' => (fill === 'none' ? 'unknown' : fill);

function cellGround({ background, fill, isConditional }: Look): Color | 'unknown' | undefined {
  if (isConditional === true) return 'unknown';
  return background ?? (fill === 'none' ? undefined : fill);
}
