import type { Color } from '../../visibility/colors.js';
import type { Fill } from '../../visibility/layers.js';
import type { OfficePackage } from '../package/office-package.js';
import { childOf, childrenOf, descend, findAll, isTrue, valueOf, wholeNumber } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';
import type { WordColors } from './colors.js';

/** Most styles that one is based on, one after the other. */
const MOST_BASES = 50;

/** What a style, or the properties of a run, say of how text looks; undefined where they say nothing. */
export interface RunLook {
  readonly isVanished: boolean | undefined;
  readonly color: Color | 'auto' | undefined;
  readonly isTiny: boolean | undefined;
  /** Whether letters have a line or a shadow around them, so that their colour does not tell whether they are seen. */
  readonly isOutlined: boolean | undefined;
  readonly background: Fill | undefined;
}

export interface ParagraphStyle {
  /** The level of the heading, from 1. */
  readonly heading: number | undefined;
  readonly list: { readonly id: string; readonly level: number | undefined } | undefined;
}

export interface WordStyles {
  paragraph(style: string | undefined): ParagraphStyle;
  /** How a style makes text look, with what it is based on. */
  look(style: string | undefined): RunLook;
  /** What the properties of a run, and those of its paragraph, say of its look. */
  ownLook(run: XmlElement | undefined, around?: XmlElement): RunLook;
  /** Whether a style of tables fills any cell. */
  fillsCells(style: string | undefined): boolean;
  readonly colors: WordColors;
  readonly language: string | undefined;
}

export const PLAIN: RunLook = {
  isVanished: undefined,
  color: undefined,
  isTiny: undefined,
  isOutlined: undefined,
  background: undefined,
};

/** Reads the styles of a Word file. A style that is based on itself ends there. */
export function readWordStyles(
  office: OfficePackage,
  part: string | undefined,
  colors: WordColors,
): WordStyles {
  const tree = part === undefined ? undefined : office.tree(part);
  const styles = new Map(
    [...childrenOf(tree, 'w:style')].map((style) => [style.attributes['w:styleId'] ?? '', style]),
  );
  const defaults = descend(tree, 'w:docDefaults', 'w:rPrDefault', 'w:rPr');
  const chainOf = (id: string | undefined): XmlElement[] => {
    const chain: XmlElement[] = [];
    for (let style = styles.get(id ?? ''); style && !chain.includes(style);) {
      chain.push(style);
      if (chain.length === MOST_BASES) break;
      style = styles.get(valueOf(style, 'w:basedOn') ?? '');
    }
    return chain;
  };
  const ownLook: WordStyles['ownLook'] = (run, around) => readLook(colors, run, around);
  return {
    paragraph: memoized((id) => readParagraphStyle(chainOf(id))),
    look: memoized((id) => {
      const looks = chainOf(id).map((style) => ownLook(childOf(style, 'w:rPr'), childOf(style, 'w:pPr')));
      return looks.reduce(underneath, PLAIN);
    }),
    ownLook,
    fillsCells: memoized((id) =>
      chainOf(id).some((style) =>
        [...findAll(style, new Set(['w:shd']))].some((shading) => colors.shading(shading) !== 'none'),
      ),
    ),
    colors,
    language: childOf(defaults, 'w:lang')?.attributes['w:val'],
  };
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
    .map((style) => headingByName(valueOf(style, 'w:name') ?? ''))
    .find((level) => level !== undefined);
  // The level nine is that of body text.
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

function readLook(colors: WordColors, run: XmlElement | undefined, around?: XmlElement): RunLook {
  const vanish = valueOf(run, 'w:vanish');
  const size = wholeNumber(valueOf(run, 'w:sz'));
  const marked = colors.highlight(valueOf(run, 'w:highlight'));
  const shaded = over(colors.shading(childOf(run, 'w:shd')), colors.shading(childOf(around, 'w:shd')));
  return {
    isVanished: vanish === undefined ? undefined : vanish === '' || isTrue(vanish),
    color: colors.text(childOf(run, 'w:color')),
    // In half points.
    isTiny: size === undefined ? undefined : size < 4,
    isOutlined: [...childrenOf(run)].some(({ name }) => OUTLINES.has(name)) || undefined,
    background: over(marked, shaded),
  };
}

const OUTLINES: ReadonlySet<string> = new Set(
  'w:outline w:shadow w:emboss w:imprint w14:textOutline w14:textFill w14:glow w14:shadow'.split(' '),
);

/** The upper fill; what says that there is none may be meant to undo the lower one. */
const over = (upper: Fill | undefined, lower: Fill | undefined): Fill | undefined =>
  upper === 'none' && lower !== undefined && lower !== 'none' ? 'unknown' : (upper ?? lower);

/** The upper look where it says something, else the lower one. */
export function underneath(upper: RunLook, lower: RunLook): RunLook {
  return {
    isVanished: upper.isVanished ?? lower.isVanished,
    color: upper.color ?? lower.color,
    isTiny: upper.isTiny ?? lower.isTiny,
    isOutlined: upper.isOutlined ?? lower.isOutlined,
    background: over(upper.background, lower.background),
  };
}
