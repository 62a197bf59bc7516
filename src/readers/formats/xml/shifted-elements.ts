import type { Shift } from '../baseline/shift.js';
import type { Attributes } from './read-markup.js';

/** Elements of JATS, DocBook, DITA and HTML, and of Elsevier's articles. */
const ELEMENTS: ReadonlyMap<string, Shift> = new Map([
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
  const shift = ELEMENTS.get(name);
  if (shift !== undefined || !STYLED.has(name)) return shift;
  const looks = ATTRIBUTES.flatMap((attribute) => (attributes[attribute] ?? '').split(/\s+/));
  if (looks.some((look) => RAISED.test(look))) return 'raised';
  return looks.some((look) => LOWERED.test(look)) ? 'lowered' : undefined;
}
