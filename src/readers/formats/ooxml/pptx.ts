import { attribute } from '../xml/read-markup.js';
import type { Block } from '../../blocks/block.js';
import type { ReadContext } from '../../parser.js';
import type { SignReader } from '../signs/sign-reader.js';
import { createComparisons, type Box, type Comparisons } from '../visibility/layers.js';
import { createGraphics } from './drawing/graphic.js';
import { readTextBody } from './drawing/text-body.js';
import { createGapCounter, type GapCounter } from './gap-counter.js';
import { damaged, POWERPOINT } from './package/office-kind.js';
import { openPackage, type OfficePackage } from './package/office-package.js';
import { readProperties } from './properties.js';
import { createPlaceholders, placeholderOf, targetOf } from './slides/placeholders.js';
import { createOpacity } from './slides/shape-properties.js';
import { slideBlocks } from './slides/slide-blocks.js';
import { createSlideLayers } from './slides/slide-layers.js';
import { createSlideThemes } from './slides/slide-theme.js';
import {
  wholeNumberOrZero,
  childOf,
  childrenOf,
  descend,
  findAll,
  findFirst,
  isTrue,
  textOf,
  wholeNumber,
} from './xml/elements.js';
import type { XmlElement } from './xml/stream-xml.js';
import { firstGroup } from '../../blocks/matches.js';

interface Deck {
  readonly office: OfficePackage;
  readonly gaps: GapCounter;
  readonly size: Box | undefined;
  readonly inherited: ReturnType<typeof createPlaceholders>;
  readonly themeOf: ReturnType<typeof createSlideThemes>;
  readonly opacityOf: ReturnType<typeof createOpacity>;
  readonly isNewFurniture: (text: string) => boolean;
  readonly usualSize: number;
  readonly comparisons: Comparisons;
}

/** Parses PowerPoint (pptx) slide by slide: titles as headings, texts in reading order, tables, charts, diagrams and notes. */
export function* parsePptx(bytes: Uint8Array, context: ReadContext): Iterable<Block> {
  const { receipt } = context;
  const office = openPackage(bytes, POWERPOINT, context);
  readProperties(office, context);
  const presentation = office.tree(office.mainPart);
  const language = findFirst(childOf(presentation, 'p:defaultTextStyle'), 'a:defRPr')?.attributes['lang'];
  if (language !== undefined) receipt.setLanguage(language);
  const gaps = createGapCounter(context);
  const comparisons = createComparisons(receipt);
  const deck = { ...createDeck(office, presentation), gaps, comparisons };
  const slides = slideParts(office, presentation);
  receipt.setParts('slide', slides.length);
  let hasText = false;
  for (const [index, part] of slides.entries()) {
    const number = index + 1;
    const location = { slides: { first: number, last: number } };
    if (!office.has(part)) {
      receipt.addGap('unreadable', 'The slide is missing in the file.', location);
      continue;
    }
    const blocks = readSlide(deck, part, number);
    if (blocks === 'hidden') continue;
    receipt.addPartRead();
    if (blocks.length === 0) receipt.addGap('empty', 'The slide holds no text.', location);
    hasText ||= blocks.length > 0;
    yield* blocks;
  }
  if (!hasText && (office.isDamaged() || slides.some((part) => !office.has(part)))) throw damaged(POWERPOINT);
  gaps.finish();
}

function createDeck(
  office: OfficePackage,
  presentation: XmlElement | undefined,
): Omit<Deck, 'gaps' | 'comparisons'> {
  const furniture = new Set<string>();
  const size = childOf(presentation, 'p:sldSz')?.attributes;
  const [width, height] = [wholeNumber(size?.['cx']), wholeNumber(size?.['cy'])];
  return {
    office,
    size: width === undefined || height === undefined ? undefined : { x: 0, y: 0, width, height },
    inherited: createPlaceholders(office),
    themeOf: createSlideThemes(office),
    opacityOf: createOpacity(office),
    usualSize: usualSizeIn(childOf(presentation, 'p:defaultTextStyle')),
    isNewFurniture: (text) => !furniture.has(text) && furniture.add(text).size > 0,
  };
}

/** The largest size of letters that say nothing, in hundredths of a point. */
const usualSizeIn = (style: XmlElement | undefined): number =>
  [...findAll(style, new Set(['a:defRPr']))].reduce(
    (largest, { attributes }) => Math.max(largest, wholeNumberOrZero(attributes['sz'])),
    1_800,
  );

/**
 * Returns the slides in the order in which they are shown, or by their names when the file has none that the presentation
 * names. Listed slides that the file lacks are among them.
 */
function slideParts(office: OfficePackage, presentation: XmlElement | undefined): string[] {
  const relations = new Map(office.relations(office.mainPart).map(({ id, target }) => [id, target]));
  const listed = [...childrenOf(childOf(presentation, 'p:sldIdLst'), 'p:sldId')].map(({ attributes }) => {
    const id = attribute(attributes, 'r:id');
    return relations.get(id) ?? `nothing is related as ${id}`;
  });
  if (listed.some((part) => office.has(part))) return [...new Set(listed)];
  const numberOf = (name: string): number => Number(firstGroup(/\/[a-z]*(\d{1,9})\.xml$/, name));
  return office.names
    .filter((name) => /^ppt\/slides\/[^/]+\.xml$/.test(name))
    .sort((a, b) => numberOf(a) - numberOf(b));
}

function readSlide(deck: Deck, part: string, number: number): 'hidden' | Block[] {
  const { office, gaps } = deck;
  const slide = office.tree(part);
  const location = { slides: { first: number, last: number } };
  if (slide?.attributes['show'] !== undefined && !isTrue(slide.attributes['show']))
    if (!gaps.hidden.accepts('slide', { location })) return 'hidden';
  const place = { slide: number };
  const inherited = deck.inherited(part);
  const blocks = slideBlocks(descend(slide, 'p:cSld', 'p:spTree'), {
    gaps,
    place,
    layers: createSlideLayers(slide, {
      theme: deck.themeOf(part, slide),
      size: deck.size,
      inherited,
      isOpaquePicture: deck.opacityOf(part),
      usualSize: deck.usualSize,
      comparisons: deck.comparisons,
    }),
    graphicsOf: createGraphics(office, part, gaps.signs),
    inherited,
    isNewFurniture: deck.isNewFurniture,
  });
  const notes = readNotes(office, part, gaps.signs);
  if (notes.length > 0) blocks.push({ text: `Notes: ${notes.join('\n')}\n\n`, place });
  for (const text of readComments(office, part, gaps.signs))
    if (gaps.hidden.accepts('comment')) blocks.push({ text: `Comment: ${text}\n\n`, place });
  const [first] = blocks;
  // Otherwise the slide would belong to the section of the one before.
  if (first && first.heading === undefined)
    blocks.unshift({ text: `Slide ${String(number)}\n\n`, heading: 2, place });
  return blocks;
}

function readNotes(office: OfficePackage, slide: string, signs: SignReader): string[] {
  const part = targetOf(office, slide, 'notesSlide');
  const notes = part === undefined ? undefined : office.tree(part);
  return [...findAll(notes, new Set(['p:sp']))]
    .filter((shape) => placeholderOf(shape)?.type === 'body')
    .flatMap((shape) => readTextBody(childOf(shape, 'p:txBody'), { signs }));
}

/** The comments of a slide, in the format until 2021 and in the one since then. */
function readComments(office: OfficePackage, slide: string, signs: SignReader): string[] {
  const part = targetOf(office, slide, 'comments');
  const comments = part === undefined ? undefined : office.tree(part);
  return [...findAll(comments, new Set(['p:text', 'p188:txBody']))]
    .map((comment) =>
      (comment.name === 'p:text' ? textOf(comment) : readTextBody(comment, { signs }).join('\n')).trim(),
    )
    .filter((text) => text !== '');
}
