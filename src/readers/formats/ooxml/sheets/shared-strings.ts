import { writePieces } from '../../baseline/pieces.js';
import type { Shift } from '../../baseline/shift.js';
import { tooLarge } from '../package/office-kind.js';
import type { OfficePackage } from '../package/office-package.js';
import { childOf, childrenOf, textOf, valueOf } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';
import type { CellText, FontLook } from './readable-text.js';

const MAX_STRINGS = 4_000_000;

/** Reads the texts that cells refer to by their index. @throws ReadError when there are too many */
export function readSharedStrings(
  office: OfficePackage,
  part: string | undefined,
  fontOf: (properties: XmlElement) => FontLook,
): readonly CellText[] {
  const strings: CellText[] = [];
  if (part === undefined) return strings;
  for (const event of office.stream(part, (name) => name === 'x:si')) {
    if (event.type !== 'element') continue;
    strings.push(richRuns(event.element, fontOf));
    if (strings.length > MAX_STRINGS)
      throw tooLarge(office.kind, `has more than ${MAX_STRINGS.toLocaleString('en')} shared strings`);
  }
  return strings;
}

/** The whole text of an item, without the readings of East Asian characters (`rPh`). */
export const richText = (item: XmlElement | undefined): string =>
  writePieces(runsOf(item).map(({ text, properties }) => ({ text, shifts: shiftsOf(properties) })));

/** As `richText`, in runs where they look different, whose raised and lowered text is not yet written as such. */
export function richRuns(
  item: XmlElement | undefined,
  fontOf: (properties: XmlElement) => FontLook,
): CellText {
  const runs = runsOf(item);
  if (runs.every(({ properties }) => properties === undefined)) return runs.map(({ text }) => text).join('');
  return runs.map(({ text, properties }) => ({
    text,
    font: properties && fontOf(properties),
    shifts: shiftsOf(properties),
  }));
}

interface Run {
  readonly text: string;
  readonly properties: XmlElement | undefined;
}

function runsOf(item: XmlElement | undefined): Run[] {
  const runs: Run[] = [];
  for (const child of childrenOf(item)) {
    const texts = child.name === 'x:t' ? [child] : child.name === 'x:r' ? [...childrenOf(child, 'x:t')] : [];
    const text = unescaped(texts.map(textOf).join(''));
    if (text !== '') runs.push({ text, properties: childOf(child, 'x:rPr') });
  }
  return runs;
}

const RAISED: readonly Shift[] = ['raised'];
const LOWERED: readonly Shift[] = ['lowered'];
const ON_LINE: readonly Shift[] = [];

function shiftsOf(properties: XmlElement | undefined): readonly Shift[] {
  const alignment = valueOf(properties, 'x:vertAlign');
  if (alignment === 'superscript') return RAISED;
  return alignment === 'subscript' ? LOWERED : ON_LINE;
}

/** Control characters are written as `_x000D_` (ECMA-376 part 1, 22.9.2.19). */
const unescaped = (text: string): string =>
  text.includes('_x')
    ? text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) =>
        String.fromCharCode(Number.parseInt(code, 16)),
      )
    : text;
