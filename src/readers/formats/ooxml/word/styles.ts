import { lookUp } from '../../../../shared/at.js';
import { attribute } from '../../xml/read-markup.js';
import type { OfficePackage } from '../package/office-package.js';
import {
  childOf,
  childrenOf,
  descend,
  findAll,
  isTrue,
  valueOf,
  wholeNumber,
  valueOrEmpty,
} from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';
import type { WordColors } from './colors.js';
import { readLook, underneath, type RunLook } from './run-look.js';

/** Most styles that one is based on, one after the other. */
const MAX_BASES = 50;

export interface ParagraphStyle {
  /** The level of the heading, from 1. */
  readonly heading: number | undefined;
  readonly list: { readonly id: string; readonly level: number | undefined } | undefined;
}

export interface WordStyles {
  paragraph(style: string | undefined): ParagraphStyle;
  /**
   * Returns the look that a style of paragraphs, or the default one, gives text, together with the styles it is based on
   * and the defaults.
   */
  paragraphLook(style: string | undefined): RunLook;
  /** Returns the look that a style of runs gives text, together with the styles it is based on. */
  runLook(style: string | undefined): RunLook;
  /** Returns the look that the properties of a run and of its paragraph state. */
  ownLook(run: XmlElement | undefined, around?: XmlElement): RunLook;
  /** Tells whether a style of tables, or the default one, fills any cell or colours its text. */
  dressesCells(style: string | undefined): boolean;
  readonly colors: WordColors;
  readonly language: string | undefined;
}

/** Reads the styles of a Word file. A style that is based on itself ends there. */
export function readWordStyles(
  office: OfficePackage,
  part: string | undefined,
  colors: WordColors,
): WordStyles {
  const tree = part === undefined ? undefined : office.tree(part);
  const styles = readStyles(tree);
  const runDefaults = descend(tree, 'w:docDefaults', 'w:rPrDefault', 'w:rPr');
  const paragraphDefaults = descend(tree, 'w:docDefaults', 'w:pPrDefault', 'w:pPr');
  const chainOf = (id: string | undefined): XmlElement[] => chainIn(styles, id);
  const defaults = { paragraph: defaultStyle(styles, 'paragraph'), table: defaultStyle(styles, 'table') };
  const usedStyle = (id: string | undefined, type: 'paragraph' | 'table'): string | undefined =>
    id !== undefined && styles.has(id) ? id : defaults[type];
  const ownLook: WordStyles['ownLook'] = (run, around) => readLook(colors, run, around);
  const lookOf = (id: string | undefined): RunLook =>
    chainOf(id)
      .map((style) => ownLook(childOf(style, 'w:rPr'), childOf(style, 'w:pPr')))
      .reduce(underneath, ownLook(undefined));
  return {
    paragraph: memoized((id) => readParagraphStyle(chainOf(id))),
    paragraphLook: memoized((id) =>
      underneath(lookOf(usedStyle(id, 'paragraph')), ownLook(runDefaults, paragraphDefaults)),
    ),
    runLook: memoized(lookOf),
    ownLook,
    dressesCells: memoized((id) =>
      chainOf(usedStyle(id, 'table')).some((style) =>
        [...findAll(style, DRESS)].some(
          (element) => element.name !== 'w:shd' || colors.shading(element) !== 'none',
        ),
      ),
    ),
    colors,
    language: childOf(runDefaults, 'w:lang')?.attributes['w:val'],
  };
}

/** Reads the styles by their ids. No text has a style without an id. */
function readStyles(tree: XmlElement | undefined): ReadonlyMap<string, XmlElement> {
  const styles = new Map<string, XmlElement>();
  for (const style of childrenOf(tree, 'w:style')) {
    const id = attribute(style.attributes, 'w:styleId');
    if (id !== '') styles.set(id, style);
  }
  return styles;
}

/** Returns a style and its base styles, the nearest first. */
function chainIn(styles: ReadonlyMap<string, XmlElement>, id: string | undefined): XmlElement[] {
  const chain: XmlElement[] = [];
  for (let style = lookUp(styles, id); style && !chain.includes(style);) {
    chain.push(style);
    if (chain.length === MAX_BASES) break;
    style = lookUp(styles, valueOf(style, 'w:basedOn'));
  }
  return chain;
}

/** Properties that change how the text of a cell can be seen. */
const DRESS: ReadonlySet<string> = new Set(['w:shd', 'w:color']);

/** The style that holds where none of its type is named. */
function defaultStyle(styles: ReadonlyMap<string, XmlElement>, type: string): string | undefined {
  for (const [id, { attributes }] of styles)
    if (attributes['w:type'] === type && isTrue(attributes['w:default'])) return id;
  return undefined;
}

function memoized<Value>(compute: (id: string | undefined) => Value): (id: string | undefined) => Value {
  const known = new Map<string | undefined, Value>();
  return (id) => {
    const value = known.get(id) ?? compute(id);
    known.set(id, value);
    return value;
  };
}

function readParagraphStyle(chain: readonly XmlElement[]): ParagraphStyle {
  const properties = chain.map((style) => childOf(style, 'w:pPr'));
  const list = properties.map(listOf).find((each) => each !== undefined);
  const outline = properties.map(outlineOf).find((level) => level !== undefined);
  const named = chain
    .map((style) => headingByName(valueOrEmpty(style, 'w:name')))
    .find((level) => level !== undefined);
  // The level nine is body text.
  return { heading: outline === undefined ? named : outline < 9 ? outline + 1 : undefined, list };
}

export const outlineOf = (properties: XmlElement | undefined): number | undefined =>
  wholeNumber(valueOf(properties, 'w:outlineLvl'), 9);

export function listOf(properties: XmlElement | undefined): ParagraphStyle['list'] {
  const numbering = childOf(properties, 'w:numPr');
  const id = valueOf(numbering, 'w:numId');
  return id === undefined ? undefined : { id, level: wholeNumber(valueOf(numbering, 'w:ilvl'), 8) };
}

function headingByName(name: string): number | undefined {
  if (/^title$/i.test(name)) return 1;
  const level = /^heading ([1-9])$/i.exec(name)?.[1];
  return level === undefined ? undefined : Number(level);
}
