import type { OfficePackage } from '../package/office-package.js';
import { childOf, childrenOf, descend, isTrue, valueOf, wholeNumber } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';

/** Most styles that one is based on, one after the other. */
const MOST_BASES = 50;

/** What a style, or the properties of a run, say of how text looks; undefined where they say nothing. */
export interface RunLook {
  readonly isVanished: boolean | undefined;
  readonly isWhite: boolean | undefined;
  readonly isTiny: boolean | undefined;
  readonly isShaded: boolean | undefined;
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
  readonly language: string | undefined;
}

const UNKNOWN: RunLook = {
  isVanished: undefined,
  isWhite: undefined,
  isTiny: undefined,
  isShaded: undefined,
};

/** Reads the styles of a Word file. A style that is based on itself ends there. */
export function readWordStyles(office: OfficePackage, part: string | undefined): WordStyles {
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
  return {
    paragraph: memoized((id) => readParagraphStyle(chainOf(id))),
    look: memoized((id) => {
      const looks = chainOf(id).map((style) => readLook(childOf(style, 'w:rPr'), childOf(style, 'w:pPr')));
      return looks.reduce(underneath, UNKNOWN);
    }),
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

/** What the properties of a run, and those of its paragraph or cell, say of its look. */
export function readLook(run: XmlElement | undefined, around?: XmlElement): RunLook {
  const vanish = valueOf(run, 'w:vanish');
  const color = valueOf(run, 'w:color');
  const size = wholeNumber(valueOf(run, 'w:sz'));
  const highlight = valueOf(run, 'w:highlight');
  const isShaded = isShading(childOf(run, 'w:shd')) ?? isShading(childOf(around, 'w:shd'));
  return {
    isVanished: vanish === undefined ? undefined : vanish === '' || isTrue(vanish),
    isWhite: color === undefined ? undefined : color.toUpperCase() === 'FFFFFF',
    // In half points.
    isTiny: size === undefined ? undefined : size < 4,
    isShaded: highlight !== undefined && !['none', 'white'].includes(highlight) ? true : isShaded,
  };
}

/** Whether there is another background than white. */
export function isShading(shading: XmlElement | undefined): boolean | undefined {
  if (!shading) return undefined;
  const fill = (shading.attributes['w:fill'] ?? 'auto').toUpperCase();
  const pattern = shading.attributes['w:val'] ?? 'clear';
  return !['AUTO', 'FFFFFF'].includes(fill) || !['clear', 'nil'].includes(pattern);
}

/** The upper look where it says something, else the lower one. */
export function underneath(upper: RunLook, lower: RunLook): RunLook {
  return {
    isVanished: upper.isVanished ?? lower.isVanished,
    isWhite: upper.isWhite ?? lower.isWhite,
    isTiny: upper.isTiny ?? lower.isTiny,
    isShaded: upper.isShaded ?? lower.isShaded,
  };
}
