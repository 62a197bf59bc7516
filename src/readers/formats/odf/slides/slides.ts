import type { Place } from '../../../blocks/block.js';
import type { Location } from '../../../blocks/location.js';
import type { Attributes } from '../../xml/read-markup.js';
import type { OdfContext } from '../context.js';

interface Slide {
  readonly number: number;
  readonly isHidden: boolean;
  hasText: boolean;
  isLeftOut: boolean;
  isInTitle: boolean;
  /** The progress in the notes of the slide: `begin` before their first paragraph. */
  notes: 'none' | 'begin' | 'within';
}

export interface SlideParagraph {
  readonly slide: number;
  readonly isTitle: boolean;
  /** Stands in front of the notes. */
  readonly prefix: string;
}

/** Follows the slides of a presentation. In a text there are none. */
export interface SlideTracker {
  open(name: string, attributes: Attributes): void;
  close(name: string): void;
  /** Tells whether text of the current slide is read. */
  accepts(text: string): boolean;
  /** The current slide, for its next paragraph; undefined outside of slides. */
  current(): SlideParagraph | undefined;
  place(): Place | undefined;
  location(): Location | null;
  /** Notes how many there were. */
  end(): void;
}

export function createSlides({ styles, hidden, receipt }: OdfContext): SlideTracker {
  let count = 0;
  let slide: Slide | undefined;
  const location = (): Location | null =>
    slide ? { slides: { first: slide.number, last: slide.number } } : null;
  const finish = (): void => {
    if (slide?.hasText === false) receipt.addGap('empty', 'The slide holds no text.', location());
    if (slide?.isLeftOut === false) receipt.addPartRead();
    slide = undefined;
  };
  return {
    open: (name, attributes) => {
      if (name === 'draw:page') {
        count += 1;
        const { isUndisplayed } = styles.look('drawing-page', attributes['draw:style-name']);
        slide = newSlide(count, isUndisplayed === true);
      }
      if (!slide) return;
      if (name === 'presentation:notes') slide.notes = 'begin';
      else if (name === 'draw:frame' && slide.notes === 'none')
        slide.isInTitle = attributes['presentation:class'] === 'title';
    },
    close: (name) => {
      if (slide) closeInSlide(slide, name);
      if (slide && name === 'draw:page') finish();
    },
    accepts: (text) => {
      if (!slide) return true;
      slide.hasText = true;
      slide.isLeftOut = slide.isHidden && !hidden.accepts('slide', { text });
      return !slide.isLeftOut;
    },
    current: () => slide && nextParagraph(slide),
    place: () => (slide ? { slide: slide.number } : undefined),
    location,
    end: () => {
      if (count > 0) receipt.setParts('slide', count);
    },
  };
}

const newSlide = (number: number, isHidden: boolean): Slide => ({
  number,
  isHidden,
  hasText: false,
  isLeftOut: false,
  isInTitle: false,
  notes: 'none',
});

function nextParagraph(slide: Slide): SlideParagraph {
  const prefix = slide.notes === 'begin' ? 'Notes: ' : '';
  if (slide.notes === 'begin') slide.notes = 'within';
  return { slide: slide.number, isTitle: slide.isInTitle, prefix };
}

function closeInSlide(slide: Slide, name: string): void {
  if (name === 'draw:frame') slide.isInTitle = false;
  if (name === 'presentation:notes') slide.notes = 'none';
}
