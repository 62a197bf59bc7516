import { createBlockWriter, type BlockWriter } from '../../blocks/block-writer.js';
import type { Place } from '../../blocks/block.js';
import type { Location } from '../../blocks/location.js';
import type { Color } from '../visibility/colors.js';
import type { Fill } from '../visibility/layers.js';
import type { Attributes } from '../xml/read-markup.js';
import { readObject, type OdfContext, type OdfReader } from './context.js';
import { createLists } from './lists/lists.js';
import { createParagraphs, type OdfParagraph } from './paragraphs.js';
import { createRepeatBudget } from './repeat-budget.js';
import { isShape, shapeFill } from './slides/shape-layers.js';
import type { SlideGround } from './slides/slide-ground.js';
import type { StyleLook, Styles } from './styles.js';
import { createTables } from './tables.js';

/** Reads the body of a text or a presentation into blocks. @param slideGround for a presentation */
export function createTextDocument(context: OdfContext, slideGround?: SlideGround): OdfReader {
  const { styles, hidden, receipt, signs } = context;
  const writer = createBlockWriter();
  const lists = createLists(styles);
  const slides = createSlides(context);
  const tables = createTables(createRepeatBudget(receipt));
  const grounds = createGrounds(styles, slideGround);
  const onParagraph = (paragraph: OdfParagraph): void => {
    if (!slides.accepts(paragraph.text) || tables.add(paragraph.text)) return;
    const mark = paragraph.isNote || paragraph.heading !== undefined ? undefined : lists.mark();
    addParagraph(writer, paragraph, { mark, slide: slides.current() });
  };
  const onEmptyField = (): void => noteEmptyField(context, slides.location());
  const paragraphs = createParagraphs({ styles, hidden, signs, onParagraph, onEmptyField, ...grounds });
  return {
    open: (name, attributes) => {
      grounds.open(name, attributes);
      const formula = readObject({ name, attributes }, context, slides.location());
      slides.open(name, attributes);
      lists.open(name, attributes);
      tables.open(name, attributes);
      paragraphs.open(name, attributes);
      if (formula !== '') paragraphs.addObject(formula);
    },
    close: (name) => {
      paragraphs.close(name);
      const table = tables.close(name, slides.place());
      if (table) writer.addFinished(table);
      lists.close(name);
      slides.close(name);
      grounds.close(name);
    },
    text: (text) => paragraphs.text(text),
    take: writer.take,
    end: () => {
      slides.end();
      return writer.end();
    },
  };
}

const noteEmptyField = ({ receipt }: OdfContext, location: Location | null): void =>
  receipt.addGap('skipped', 'An empty field of a form was left out.', location);

interface ParagraphPlace {
  readonly mark: string | undefined;
  readonly slide: SlideParagraph | undefined;
}

function addParagraph(writer: BlockWriter, paragraph: OdfParagraph, { mark, slide }: ParagraphPlace): void {
  const heading = paragraph.heading ?? (slide?.isTitle === true ? 1 : undefined);
  const text = `${slide?.prefix ?? ''}${heading === undefined ? (mark ?? '') : ''}${paragraph.text}`;
  writer.add(
    {
      text,
      ...(heading === undefined ? {} : { heading }),
      ...(slide === undefined ? {} : { place: { slide: slide.slide } }),
    },
    { isLine: heading === undefined && mark !== undefined },
  );
}

/** Families of the styles of elements that may have a background behind the text in them. */
const FAMILIES: ReadonlyMap<string, string> = new Map([
  ['text:section', 'section'],
  ['table:table', 'table'],
  ['table:table-row', 'table-row'],
  ['table:table-cell', 'table-cell'],
]);
/**
 * Follows open elements, and knows the colour behind the text in them. @param slideGround tells the ground behind the text of
 * shapes where there are slides
 */
function createGrounds(styles: Styles, slideGround?: SlideGround) {
  const grounds: (Color | 'unknown')[] = [];
  const behind = (): Color | undefined => {
    const ground = grounds.at(-1) ?? styles.pageColor();
    return ground === 'unknown' ? undefined : ground;
  };
  return {
    open: (name: string, attributes: Attributes): void => {
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
    close: (name: string): void => {
      if (isShape(name) || FAMILIES.has(name)) grounds.pop();
      slideGround?.close(name);
    },
    /** Undefined when it is not known. */
    behind,
    /** Returns the reason why nothing of the open elements is seen; undefined when they are seen. */
    reasonAround: () => slideGround?.reason(),
  };
}

/** Without slides, the places of frames are not compared. */
const frameGround = (fill: Fill): Color | 'unknown' => (fill === 'none' ? 'unknown' : fill);

function cellGround({ background, fill, isConditional }: StyleLook): Color | 'unknown' | undefined {
  if (isConditional === true) return 'unknown';
  return background ?? (fill === 'none' ? undefined : fill);
}

interface Slide {
  readonly number: number;
  readonly isHidden: boolean;
  hasText: boolean;
  isLeftOut: boolean;
  isInTitle: boolean;
  /** The progress in the notes of the slide: `begin` before their first paragraph. */
  notes: 'none' | 'begin' | 'within';
}

interface SlideParagraph {
  readonly slide: number;
  readonly isTitle: boolean;
  /** Stands in front of the notes. */
  readonly prefix: string;
}

/** Follows the slides of a presentation. In a text there are none. */
interface SlideTracker {
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

function createSlides({ styles, hidden, receipt }: OdfContext): SlideTracker {
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
