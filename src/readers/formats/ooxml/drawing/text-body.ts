import { writePieces, type Piece } from '../../baseline/pieces.js';
import type { Shift } from '../../baseline/shift.js';
import { writeOmml } from '../../formulas/omml.js';
import { bulletMark, signsOf, type SignReader } from '../../signs/sign-reader.js';
import { wholeNumberOrZero, childOf, childrenOf, textOf, wholeNumber } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';
import { attribute } from '../../xml/read-markup.js';

/** Decides whether the text of each run is read. @param level the level of its paragraph, from 0 */
export type RunFilter = (properties: XmlElement | undefined, text: string, level: number) => boolean;

interface BodyOptions {
  /** True if paragraphs without a mark of their own are items of a list. */
  readonly isList?: boolean;
  readonly admits?: RunFilter;
  /** Reads text in symbol fonts. Without it, fonts are not looked at. */
  readonly signs?: SignReader;
}

/** The paragraphs of a body of text of DrawingML, with the marks of lists; empty ones are left out. */
export function readTextBody(body: XmlElement | undefined, options: BodyOptions): string[] {
  const lines: string[] = [];
  const numbers: number[] = [];
  for (const paragraph of childrenOf(body, 'a:p')) {
    const text = paragraphText(paragraph, options).trim();
    if (text === '') continue;
    lines.push(markOf(childOf(paragraph, 'a:pPr'), numbers, options.isList === true) + text);
  }
  return lines;
}

/** Returns the text of a paragraph of DrawingML, with raised and lowered text, and formulas. */
export function paragraphText(
  paragraph: XmlElement,
  { admits = () => true, signs }: BodyOptions = {},
): string {
  const pieces: Piece[] = [];
  const put = (text: string, shift?: Shift): void =>
    void pieces.push({ text, shifts: shift === undefined ? [] : [shift] });
  const level = levelOf(childOf(paragraph, 'a:pPr'));
  for (const child of childrenOf(paragraph)) {
    if (child.name === 'a:br') put('\n');
    else if (child.name === 'a:r' || child.name === 'a:fld') {
      const run = textOf(childOf(child, 'a:t'));
      const properties = childOf(child, 'a:rPr');
      if (run !== '' && admits(properties, run, level))
        put(shownText(run, properties, signs), shiftOf(properties));
    } else if (child.name !== 'a:pPr' && child.name !== 'a:endParaRPr' && child.name !== 'mc:Fallback')
      put(nestedText(child));
  }
  return writePieces(pieces);
}

/** Thousandths of a percent of the size of letters. */
function shiftOf(properties: XmlElement | undefined): Shift | undefined {
  const baseline = Number.parseFloat(properties?.attributes['baseline'] ?? '0');
  if (baseline > 0) return 'raised';
  return baseline < 0 ? 'lowered' : undefined;
}

/** The text of a run as it is shown. Symbols have a font of their own (`a:sym`), in which only the private use area is. */
function shownText(text: string, properties: XmlElement | undefined, signs?: SignReader): string {
  if (!signs) return text;
  const letters = childOf(properties, 'a:latin')?.attributes['typeface'];
  const symbols = childOf(properties, 'a:sym')?.attributes['typeface'];
  return text.replace(/[\uf000-\uf0ff]+|[^\uf000-\uf0ff]+/g, (part) =>
    signs.read(part, part >= '\uf000' && part < '\uf100' && signsOf(symbols) ? symbols : letters),
  );
}

/** Formulas and the like. */
function nestedText(element: XmlElement): string {
  if (element.name === 'm:oMath') return writeOmml(element);
  if (element.name === 'a:t') return textOf(element);
  let text = '';
  for (const child of childrenOf(element)) if (child.name !== 'mc:Fallback') text += nestedText(child);
  return text;
}

const levelOf = (properties: XmlElement | undefined): number =>
  Math.min(8, Math.max(0, wholeNumberOrZero(properties?.attributes['lvl'])));

/** Returns the mark before a paragraph: nothing, a dash or its number, indented by its level. */
function markOf(properties: XmlElement | undefined, numbers: number[], isList: boolean): string {
  const level = levelOf(properties);
  const isPlain = childOf(properties, 'a:buNone') !== undefined;
  const numbering = childOf(properties, 'a:buAutoNum');
  const isItem = isList || level > 0 || childOf(properties, 'a:buChar') !== undefined;
  numbers.length = Math.min(numbers.length, level + 1);
  const indent = '  '.repeat(level);
  if (numbering && !isPlain) {
    const number = numbers[level] ?? wholeNumber(numbering.attributes['startAt'], 32_767) ?? 1;
    numbers[level] = number + 1;
    return `${indent}${String(number)}. `;
  }
  numbers.length = Math.min(numbers.length, level);
  return isItem && !isPlain ? `${indent}${bulletOf(properties)}` : '';
}

const bulletOf = (properties: XmlElement | undefined): string =>
  bulletMark(
    attribute(childOf(properties, 'a:buChar')?.attributes, 'char'),
    childOf(properties, 'a:buFont')?.attributes['typeface'],
  );
