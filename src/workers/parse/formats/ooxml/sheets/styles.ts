import type { OfficePackage } from '../package/office-package.js';
import { childOf, childrenOf, isTrue, valueOf, wholeNumber } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';
import { builtinFormatCode } from './builtin-formats.js';
import type { DateSystem } from './date-format.js';
import { createNumberFormat, type NumberFormat } from './number-format.js';

/** Sizes in points that nobody can read. */
const LEAST_SIZE = 2;
const WHITE: ReadonlySet<string> = new Set(['FFFFFFFF', '00FFFFFF', 'FFFFFF']);

export interface CellStyle {
  readonly format: NumberFormat;
  readonly isBold: boolean;
  /** Why its text cannot be seen. */
  readonly hidden: 'white' | 'tiny' | undefined;
}

/** Reads what cells look like. @returns the style of an index, which is general where the file has none */
export function readStyles(
  office: OfficePackage,
  part: string | undefined,
  system: DateSystem,
): (index: number) => CellStyle {
  const tree = part === undefined ? undefined : office.tree(part);
  const codes = new Map(
    [...childrenOf(childOf(tree, 'x:numFmts'), 'x:numFmt')].map(({ attributes }) => [
      wholeNumber(attributes['numFmtId']) ?? -1,
      attributes['formatCode'] ?? 'General',
    ]),
  );
  const fonts = [...childrenOf(childOf(tree, 'x:fonts'), 'x:font')].map(readFont);
  const fills = [...childrenOf(childOf(tree, 'x:fills'), 'x:fill')].map(isFilled);
  const formats = new Map<number, NumberFormat>();
  const formatOf = (id: number): NumberFormat => {
    const format = formats.get(id) ?? createNumberFormat(codes.get(id) ?? builtinFormatCode(id), system);
    formats.set(id, format);
    return format;
  };
  const styles = [...childrenOf(childOf(tree, 'x:cellXfs'), 'x:xf')].map(({ attributes }): CellStyle => {
    const font = fonts[wholeNumber(attributes['fontId']) ?? 0];
    const isWhite = font?.isWhite === true && fills[wholeNumber(attributes['fillId']) ?? 0] !== true;
    return {
      format: formatOf(wholeNumber(attributes['numFmtId']) ?? 0),
      isBold: font?.isBold === true,
      hidden: isWhite ? 'white' : font?.isTiny === true ? 'tiny' : undefined,
    };
  });
  const general: CellStyle = { format: formatOf(0), isBold: false, hidden: undefined };
  return (index) => styles[index] ?? general;
}

function readFont(font: XmlElement) {
  const color = childOf(font, 'x:color')?.attributes;
  const bold = valueOf(font, 'x:b');
  return {
    isBold: bold !== undefined && (bold === '' || isTrue(bold)),
    isTiny: Number(valueOf(font, 'x:sz') ?? LEAST_SIZE) < LEAST_SIZE,
    // The first colour of a theme is that of the background, unless it is darkened.
    isWhite:
      WHITE.has(color?.['rgb'] ?? '') ||
      (color?.['theme'] === '0' && Number(color['tint'] ?? 0) >= 0) ||
      color?.['indexed'] === '9' ||
      color?.['indexed'] === '1',
  };
}

/** Whether cells have a background of their own that is not white. */
function isFilled(fill: XmlElement): boolean {
  const pattern = childOf(fill, 'x:patternFill');
  if (!pattern) return childOf(fill, 'x:gradientFill') !== undefined;
  const type = pattern.attributes['patternType'] ?? 'none';
  if (type !== 'solid') return type !== 'none';
  const color = childOf(pattern, 'x:fgColor')?.attributes;
  return !WHITE.has(color?.['rgb'] ?? '') && !(color?.['theme'] === '0' && color['tint'] === undefined);
}
