import type { XmlElement, XmlEvent } from './stream-xml.js';
import { attribute } from '../../xml/read-markup.js';

/** The elements directly in an element, of one name or of all. */
export function* childrenOf(element: XmlElement | undefined, name?: string): Iterable<XmlElement> {
  for (const child of element?.children ?? [])
    if (typeof child !== 'string' && (name === undefined || child.name === name)) yield child;
}

export function childOf(element: XmlElement | undefined, name: string): XmlElement | undefined {
  for (const child of element?.children ?? [])
    if (typeof child !== 'string' && child.name === name) return child;
  return undefined;
}

/** Follows names from an element downwards, the first child of each. */
export function descend(
  element: XmlElement | undefined,
  ...names: readonly string[]
): XmlElement | undefined {
  return names.reduce(childOf, element);
}

/** All elements of these names within an element, in the order of the file; none within another that was found. */
export function* findAll(element: XmlElement | undefined, names: ReadonlySet<string>): Iterable<XmlElement> {
  for (const child of element?.children ?? []) {
    if (typeof child === 'string' || child.name === 'mc:Fallback') continue;
    if (names.has(child.name)) yield child;
    else yield* findAll(child, names);
  }
}

export function findFirst(element: XmlElement | undefined, name: string): XmlElement | undefined {
  for (const found of findAll(element, new Set([name]))) return found;
  return undefined;
}

/** The text directly in an element. */
export function textOf(element: XmlElement | undefined): string {
  let text = '';
  for (const child of element?.children ?? []) if (typeof child === 'string') text += child;
  return text;
}

/** The attribute `val` of an element's child, in any namespace; undefined without the child, empty without a value. */
export function valueOf(element: XmlElement | undefined, name: string): string | undefined {
  const child = childOf(element, name);
  return child && attribute(child.attributes, 'w:val', 'val');
}

/** The same, empty also without the child. */
export const valueOrEmpty = (element: XmlElement | undefined, name: string): string =>
  valueOf(element, name) ?? '';

/** Tells whether an attribute or value of XML Schema's type boolean is true. */
export const isTrue = (value: string | undefined): boolean =>
  value !== undefined && !['0', 'false', 'off', 'none'].includes(value);

/** A whole number within bounds; undefined for anything else. */
export function wholeNumber(text: string | undefined, most = Number.MAX_SAFE_INTEGER): number | undefined {
  if (text === undefined || !/^\s*[+-]?\d{1,15}\s*$/.test(text)) return undefined;
  const number = Number(text);
  return Math.abs(number) <= most ? number : undefined;
}

/** A whole number of which the format says that it is 0 where it is not written. */
export const wholeNumberOrZero = (text: string | undefined, most?: number): number =>
  wholeNumber(text, most) ?? 0;

/** Passes the content of a tree as a stream passes the content of a file. */
export function* treeEvents(
  { children }: Pick<XmlElement, 'children'>,
  isWhole: (name: string) => boolean,
): Generator<XmlEvent, undefined> {
  for (const element of childrenOf({ name: '', attributes: {}, children })) {
    if (isWhole(element.name)) yield { type: 'element', element };
    else {
      yield { type: 'open', name: element.name, attributes: element.attributes };
      yield* treeEvents(element, isWhole);
      yield { type: 'close', name: element.name };
    }
  }
  return undefined;
}
