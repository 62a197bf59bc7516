import { unescaped } from './declarations.js';
import { at } from '../../../shared/at.js';

/** The last part of a selector: the properties that an element must have for the rule to hold. */
export interface Subject {
  readonly element: string;
  readonly id: string;
  readonly classes: readonly string[];
  /** True if the selector asks for more, so that the rule may hold for such elements or not. */
  readonly isVague: boolean;
  /** True if the rule is about content in front of or behind the content of the element. */
  readonly isBeside: boolean;
}

const MAX_LENGTH = 400;
const NAME = '[\\w\\u0080-\\uffff-]';
const COMPOUND = new RegExp(`^(?:\\*|${NAME}*)(?:[.#]${NAME}+)*$`);
/** States that a page does not have before its reader does anything, and parts of elements that are no text. */
const NOT_SHOWN =
  /:(?:hover|focus|active|target|visited|placeholder|selection|marker|-webkit-scrollbar|-moz|-ms)/i;

/** The selectors of a rule, by their last parts. Those that hold for no element that is at rest are left out. */
export function parseSelectors(text: string): readonly Subject[] {
  const plain = unescaped(text, true)
    .replace(/\([^()]*\)/g, '')
    .replace(/\([^()]*\)/g, '')
    .replace(/\[[^[\]]*\]/g, '[]');
  return plain.split(',').flatMap((selector) => parseSelector(selector.trim()) ?? []);
}

function parseSelector(selector: string): Subject | undefined {
  if (selector === '' || NOT_SHOWN.test(selector)) return undefined;
  if (selector.length > MAX_LENGTH)
    return { element: '', id: '', classes: [], isVague: true, isBeside: false };
  const parts = selector.split(/[\s>+~]+/);
  const last = at(parts, parts.length - 1);
  const [named = ''] = last.replace(/^:root/i, 'html').split(/[:[]/);
  const compound = named.replace('&', '');
  const isBeside = /:(?:before|after)$/i.test(last);
  const isVague = selector.replace(/^:root/i, 'html') !== compound;
  if (!COMPOUND.test(compound)) return { element: '', id: '', classes: [], isVague: true, isBeside };
  const names = compound.split(/(?=[.#])/);
  return {
    element: names.find((name) => /^[^.#*]/.test(name))?.toLowerCase() ?? '',
    id: names.find((name) => name.startsWith('#'))?.slice(1) ?? '',
    classes: names.filter((name) => name.startsWith('.')).map((name) => name.slice(1)),
    isVague,
    isBeside,
  };
}

/** Returns the part of a selector that finds its rule. */
export const subjectKey = ({ element, id, classes: [name] }: Subject): string => {
  if (id !== '') return `#${id}`;
  if (name !== undefined) return `.${name}`;
  return element === '' ? '*' : element;
};

export const specificityOf = ({ element, id, classes }: Subject): number =>
  (id === '' ? 0 : 100) + 10 * classes.length + (element === '' ? 0 : 1);
