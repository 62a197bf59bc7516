import {
  accented,
  applied,
  arranged,
  fraction,
  gapBetween,
  grouped,
  MAX_NESTED,
  overlined,
  plainLetters,
  plainText,
  root,
  stacked,
  underlined,
  underSign,
  withLimits,
  withPrescripts,
  withScripts,
} from './linear.js';
import type { XmlElement } from '../ooxml/xml/stream-xml.js';
import { attribute } from '../xml/read-markup.js';

/** A piece of text of a formula. */
export interface FormulaRun {
  readonly run: XmlElement;
  readonly text: string;
  /** True for a part that was deleted while changes were tracked. */
  readonly isDeleted: boolean;
}

interface Writing {
  readonly admits: (run: FormulaRun) => boolean;
  readonly depth: number;
  readonly isDeleted: boolean;
}

/**
 * Writes a formula of Office (`m:oMath`) as linear text, as UnicodeMath does.
 * @param admits asked for each run whether its text is read
 * @see ECMA-376 part 1, 22.1; Unicode Technical Note 28
 */
export function writeOmml(formula: XmlElement, admits: Writing['admits'] = () => true): string {
  const text = row(formula, { admits, depth: 0, isDeleted: false });
  return text.replace(/[^\S\n]+/g, ' ').trim();
}

/** The elements of a formula that say how others look. */
const PROPERTIES = 'Pr';

function row(element: XmlElement | undefined, writing: Writing): string {
  if (!element) return '';
  if (writing.depth > MAX_NESTED) return plainText(element);
  const written: string[] = [];
  let last = '';
  for (const child of element.children) {
    if (typeof child === 'string') continue;
    const text = write(child, { ...writing, depth: writing.depth + 1 });
    if (text === '') continue;
    written.push(gapBetween(last, text), text);
    last = text;
  }
  return written.join('');
}

type Write = (element: XmlElement, writing: Writing) => string;

const WRITERS: ReadonlyMap<string, Write> = new Map<string, Write>([
  ['m:r', run],
  ['m:f', writeFraction],
  ['m:rad', writeRoot],
  ['m:sSup', (e, w) => withScripts(part(e, 'm:e', w), { above: part(e, 'm:sup', w) })],
  ['m:sSub', (e, w) => withScripts(part(e, 'm:e', w), { below: part(e, 'm:sub', w) })],
  ['m:sSubSup', (e, w) => withScripts(part(e, 'm:e', w), bothScripts(e, w))],
  ['m:sPre', (e, w) => withPrescripts(part(e, 'm:e', w), bothScripts(e, w))],
  ['m:nary', (e, w) => withLimits(property(e, 'm:chr') ?? '∫', bothScripts(e, w), part(e, 'm:e', w))],
  ['m:func', (e, w) => applied(part(e, 'm:fName', w), part(e, 'm:e', w))],
  ['m:limLow', (e, w) => withScripts(part(e, 'm:e', w), { below: part(e, 'm:lim', w) })],
  ['m:limUpp', (e, w) => withScripts(part(e, 'm:e', w), { above: part(e, 'm:lim', w) })],
  ['m:d', writeDelimited],
  ['m:acc', (e, w) => accented(part(e, 'm:e', w), property(e, 'm:chr') ?? '\u0302')],
  ['m:bar', (e, w) => (property(e, 'm:pos') === 'top' ? overlined : underlined)(part(e, 'm:e', w))],
  ['m:groupChr', (e, w) => underSign(property(e, 'm:chr') ?? '⏟', part(e, 'm:e', w))],
  ['m:m', (e, w) => arranged(childrenOf(e, 'm:mr').map((line) => parts(line, 'm:e', w)))],
  [
    'm:eqArr',
    (e, w) =>
      arranged(
        parts(e, 'm:e', w).map((line) => [line.replaceAll('&', '')]),
        '█',
      ),
  ],
  ['w:del', (e, w) => row(e, { ...w, isDeleted: true })],
  ['w:moveFrom', (e, w) => row(e, { ...w, isDeleted: true })],
  ['m:phant', (e, w) => (isOff(property(e, 'm:show')) ? '' : part(e, 'm:e', w))],
]);

function write(element: XmlElement, writing: Writing): string {
  if (element.name.endsWith(PROPERTIES) || element.name === 'mc:Fallback') return '';
  return WRITERS.get(element.name)?.(element, writing) ?? row(element, writing);
}

const childrenOf = ({ children }: XmlElement, name: string): XmlElement[] =>
  children.filter((child) => typeof child !== 'string').filter((child) => child.name === name);

const part = (element: XmlElement, name: string, writing: Writing): string =>
  row(childrenOf(element, name)[0], writing);

const parts = (element: XmlElement, name: string, writing: Writing): string[] =>
  childrenOf(element, name).map((child) => row(child, writing));

const bothScripts = (element: XmlElement, writing: Writing) => ({
  below: part(element, 'm:sub', writing),
  above: part(element, 'm:sup', writing),
});

/** Returns the value of an element's property; undefined without the property, empty for a property without a value. */
function property(element: XmlElement, name: string): string | undefined {
  for (const child of element.children) {
    if (typeof child === 'string' || !child.name.endsWith(PROPERTIES)) continue;
    const found = childrenOf(child, name)[0];
    if (found) return attribute(found.attributes, 'm:val', 'val');
  }
  return undefined;
}

const isOff = (value: string | undefined): boolean =>
  value !== undefined && ['0', 'off', 'false'].includes(value);

function run(element: XmlElement, { admits, isDeleted }: Writing): string {
  let text = '';
  for (const child of element.children) {
    if (typeof child === 'string') continue;
    if (child.name === 'm:t' || child.name === 'w:t' || child.name === 'w:delText')
      text += child.children.filter((each) => typeof each === 'string').join('');
    else if (child.name === 'w:br' || child.name === 'w:cr') text += '\n';
    else if (child.name === 'w:tab') text += ' ';
  }
  const written = plainLetters(text);
  return written === '' || admits({ run: element, text: written, isDeleted }) ? written : '';
}

function writeFraction(element: XmlElement, writing: Writing): string {
  const [above, below] = [part(element, 'm:num', writing), part(element, 'm:den', writing)];
  return property(element, 'm:type') === 'noBar' ? stacked(above, below) : fraction(above, below);
}

function writeRoot(element: XmlElement, writing: Writing): string {
  const isHidden = property(element, 'm:degHide');
  const degree = isHidden === undefined || isOff(isHidden) ? part(element, 'm:deg', writing) : '';
  return root(part(element, 'm:e', writing), degree);
}

function writeDelimited(element: XmlElement, writing: Writing): string {
  const open = property(element, 'm:begChr') ?? '(';
  const close = property(element, 'm:endChr') ?? ')';
  const between = property(element, 'm:sepChr') ?? '|';
  const inside = parts(element, 'm:e', writing).join(between);
  return open === '' && close === '' ? grouped(inside) : open + inside + close;
}
