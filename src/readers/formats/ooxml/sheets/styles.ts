import type { Fill } from '../../visibility/layers.js';
import type { OfficePackage } from '../package/office-package.js';
import { wholeNumberOrZero, childOf, childrenOf, isTrue, valueOf, wholeNumber } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';
import type { FontLook } from './readable-text.js';
import { builtinFormatCode } from './format-code.js';
import { createSheetColors, type SheetColors } from './colors.js';
import type { DateSystem } from './date-format.js';
import { createNumberFormat, type NumberFormat } from './number-format.js';

export interface CellStyle {
  readonly format: NumberFormat;
  readonly isBold: boolean;
  readonly font: FontLook;
  readonly fill: Fill;
}

export interface SheetStyles {
  /** The style of an index, which is general where the file has none. */
  cell(index: number): CellStyle;
  /** Returns the look that the properties of a run of text give. */
  font(properties: XmlElement): FontLook;
}

interface StyleParts {
  readonly styles: string | undefined;
  readonly theme: string | undefined;
}

/** Reads the look of cells. */
export function readStyles(office: OfficePackage, parts: StyleParts, system: DateSystem): SheetStyles {
  const tree = parts.styles === undefined ? undefined : office.tree(parts.styles);
  const colors = createSheetColors(tree, parts.theme === undefined ? undefined : office.tree(parts.theme));
  const codes = new Map(
    [...childrenOf(childOf(tree, 'x:numFmts'), 'x:numFmt')].map(({ attributes }) => [
      wholeNumber(attributes['numFmtId']) ?? -1,
      attributes['formatCode'] ?? 'General',
    ]),
  );
  const fonts = [...childrenOf(childOf(tree, 'x:fonts'), 'x:font')].map((font) => ({
    isBold: isBold(font),
    look: lookOf(font, colors),
  }));
  const fills = [...childrenOf(childOf(tree, 'x:fills'), 'x:fill')].map((fill) => colors.fill(fill));
  const formats = new Map<number, NumberFormat>();
  const formatOf = (id: number): NumberFormat => {
    const format = formats.get(id) ?? createNumberFormat(codes.get(id) ?? builtinFormatCode(id), system);
    formats.set(id, format);
    return format;
  };
  const parents = [...childrenOf(childOf(tree, 'x:cellStyleXfs'), 'x:xf')];
  const styles = [...childrenOf(childOf(tree, 'x:cellXfs'), 'x:xf')].map((style): CellStyle => {
    const { attributes } = style;
    const parent = parents[wholeNumberOrZero(attributes['xfId'])];
    const font = fonts[wholeNumberOrZero(attributes['fontId'])];
    const fill = fills[wholeNumberOrZero(attributes['fillId'])];
    return {
      format: formatOf(wholeNumberOrZero(attributes['numFmtId'])),
      isBold: font?.isBold === true,
      font: (isSettled(style, parent, 'Font') ? font?.look : undefined) ?? ORDINARY,
      fill: isSettled(style, parent, 'Fill') ? (fill ?? 'none') : 'unknown',
    };
  });
  const general: CellStyle = { format: formatOf(0), isBold: false, font: ORDINARY, fill: 'none' };
  return { cell: (index) => styles[index] ?? general, font: (properties) => lookOf(properties, colors) };
}

/** Tells whether all programs show a style alike: some take what it does not apply itself from its parent, others do not. */
const isSettled = (style: XmlElement, parent: XmlElement | undefined, what: 'Font' | 'Fill'): boolean => {
  const applied = style.attributes[`apply${what}`];
  const id = what === 'Font' ? 'fontId' : 'fillId';
  return applied === undefined || isTrue(applied) || parent?.attributes[id] === style.attributes[id];
};

const ORDINARY: FontLook = {};

function isBold(font: XmlElement): boolean {
  const bold = valueOf(font, 'x:b');
  return bold !== undefined && (bold === '' || isTrue(bold));
}

const lookOf = (font: XmlElement, colors: SheetColors): FontLook => ({
  color: colors.of(childOf(font, 'x:color')),
  size: sizeOf(font),
  name: valueOf(font, 'x:name') ?? valueOf(font, 'x:rFont'),
});

function sizeOf(font: XmlElement): number | undefined {
  const size = valueOf(font, 'x:sz');
  return size === undefined ? undefined : Number(size);
}
