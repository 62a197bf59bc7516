import { oneLine } from '../../blocks/one-line.js';
import type { Shift } from '../baseline/shift.js';
import { attribute, type Attributes } from './read-markup.js';
import { firstGroup } from '../../blocks/matches.js';

/** A value of a record. */
export interface NamedText {
  readonly name: string;
  readonly text: string;
}

/** Attributes of prose that are for programs: they identify, link and arrange its elements. */
const TECHNICAL = new Set(
  'id class style role href src type version rend key ref rid ref-type linkend position orientation align valign frame rules border width cellpadding cellspacing cols rows colsep rowsep pgwide'.split(
    ' ',
  ),
);
/** Prefixes of attributes for programs in any XML. */
const DECLARATIONS = new Set(['xml', 'xmlns', 'xsi']);
/** The values by which feeds tell how a text is written. */
const WRITTEN_AS = /^(?:text|x?html|[a-z]+\/[-+.\w]+)$/;
/** Document types and namespaces of formats for prose (JATS, DocBook, DITA, TEI). */
const PROSE_FORMATS = /DocBook|JATS|Journal (?:Archiving|Publishing)|BITS|DITA|tei-c|\bTEI\b/i;

/** Tells whether the document type that a file begins with is one of prose. */
export const isProseType = (prolog: string): boolean =>
  PROSE_FORMATS.test(firstGroup(/<!DOCTYPE([^>[]*)/i, prolog));

/** Tells whether an element declares that it, with its content, is in a format for prose. */
export const beginsProse = (name: string, attributes: Attributes): boolean =>
  /^tei/i.test(name) ||
  'article-type' in attributes ||
  'dtd-version' in attributes ||
  PROSE_FORMATS.test(attribute(attributes, 'xmlns'));

/** Attributes that hold data, as values of their element: of records nearly all. */
export function attributeValues(attributes: Attributes, isProse: boolean): NamedText[] {
  return Object.entries(attributes)
    .filter(([name, text]) => text.trim() !== '' && (isProse ? isOfText : isOfRecord)(name, text))
    .map(([name, text]) => ({ name: localName(name), text: oneLine(text) }));
}

/** Attributes behind the text that they are of, such as ` (currency: EUR)`. */
export function attributeText(values: readonly NamedText[]): string {
  return values.length === 0 ? '' : ` (${joinedValues(values)})`;
}

export const joinedValues = (values: readonly NamedText[]): string =>
  values.map(({ name, text }) => `${name}: ${text}`).join('; ');

/** The name of an element or attribute without the prefix of its namespace. */
export const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

const isOfText = (name: string): boolean =>
  !name.includes(':') && !TECHNICAL.has(name) && name !== 'xmlns' && name !== 'lang';

function isOfRecord(name: string, text: string): boolean {
  if (name === 'lang' || name === 'xmlns' || (name === 'type' && WRITTEN_AS.test(text))) return false;
  return !name.includes(':') || !DECLARATIONS.has(name.slice(0, name.indexOf(':')));
}

/** Elements of JATS, DocBook, DITA and HTML, and of Elsevier's articles. */
const SHIFTED_ELEMENTS: ReadonlyMap<string, Shift> = new Map([
  ['sup', 'raised'],
  ['superscript', 'raised'],
  ['sub', 'lowered'],
  ['subscript', 'lowered'],
  ['inf', 'lowered'],
]);
/** Elements that say by an attribute how their text looks (TEI, EAD, DocBook, EndNote). */
const STYLED = new Set(['hi', 'emph', 'emphasis', 'phrase', 'style', 'ref', 'seg', 'num']);
const ATTRIBUTES = ['rend', 'render', 'rendition', 'role', 'face'];
const RAISED = /^#?sup(?:er(?:script)?)?$/i;
const LOWERED = /^#?sub(?:script)?$/i;

/** Returns the shift that an element gives its text. */
export function shiftOf(name: string, attributes: Attributes): Shift | undefined {
  const shift = SHIFTED_ELEMENTS.get(name);
  if (shift !== undefined || !STYLED.has(name)) return shift;
  const looks = ATTRIBUTES.flatMap((name) => attribute(attributes, name).split(/\s+/));
  if (looks.some((look) => RAISED.test(look))) return 'raised';
  return looks.some((look) => LOWERED.test(look)) ? 'lowered' : undefined;
}
