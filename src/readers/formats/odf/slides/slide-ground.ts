import type { Color } from '../../visibility/colors.js';
import { createLayers, type Comparisons } from '../../visibility/layers.js';
import type { Unseen } from '../../visibility/hidden-counter.js';
import { reasonUnseen } from '../../visibility/reason-unseen.js';
import { createShapeWalk, type SlideShapes } from './slide-shapes.js';
import { at } from '../../../../shared/at.js';

/** Follows the shapes of slides that were looked through before. */
export interface SlideGround {
  open(name: string): void;
  close(name: string): void;
  /** Returns the colour behind the text of the open shape; undefined when it is not known. */
  behind(): Color | undefined;
  /** Returns the reason why nothing of the open shape is seen; undefined when it is seen. */
  reason(): Unseen | undefined;
}

export function createSlideGround(slides: readonly SlideShapes[], comparisons: Comparisons): SlideGround {
  const walk = createShapeWalk();
  const open: number[] = [];
  let page = -1;
  let next = 0;
  let layers: Layers | undefined;
  let known: { readonly index: number; readonly reason: Unseen | undefined } | undefined;
  return {
    open: (name) => {
      if (name === 'draw:page') {
        page += 1;
        next = 0;
        known = undefined;
        const slide = slides[page];
        layers = slide && layersOf(slide, comparisons);
      }
      if (!walk.open(name)) return;
      open.push(next);
      next += 1;
    },
    close: (name) => {
      if (walk.close(name)) open.pop();
    },
    behind: () => {
      const [slide, index] = [slides[page], open.at(-1)];
      if (!slide || index === undefined || index >= slide.layers.length) return undefined;
      return layers?.behindText(slide.behind.length + index);
    },
    reason: () => {
      const index = open.at(-1);
      if (index === undefined) return undefined;
      if (known?.index !== index) known = { index, reason: reasonOf(slides[page], layers, index) };
      return known.reason;
    },
  };
}

const layersOf = (slide: SlideShapes, comparisons: Comparisons) =>
  createLayers([...slide.behind, ...withoutAnimated(slide)], { background: slide.background, comparisons });

type Layers = ReturnType<typeof createLayers>;

function reasonOf(
  slide: SlideShapes | undefined,
  layers: Layers | undefined,
  index: number,
): Unseen | undefined {
  const { box, reach = box } = slide?.layers[index] ?? {};
  if (!slide || !reach || slide.animated.has(at(slide.ids, index))) return undefined;
  return reasonUnseen({
    box: reach,
    page: slide.size,
    isCovered: () => layers?.isCovered(slide.behind.length + index) === true,
  });
}

/** Returns the layers. A shape that an animation may take away covers nothing. */
const withoutAnimated = ({ layers, ids, animated }: SlideShapes) =>
  layers.map((layer, index) => (animated.has(at(ids, index)) ? { ...layer, isWhole: false } : layer));
