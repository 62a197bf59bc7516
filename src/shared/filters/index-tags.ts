import { hash } from 'node:crypto';
import type { Json, MatchableDocument } from '../document.js';
import { isPlainObject } from '../json-values.js';
import { parseInstant } from './instants.js';
import type { Comparison, Operand, Scalar } from './parse.js';
import {
  createPathReader,
  documentFieldNames,
  isOwnField,
  MAX_METADATA_DEPTH,
  unhiddenFieldNames,
  type PathReader,
} from './paths.js';

/** Range tags distinguish this many hex digits of a double: sign, exponent and eight bits of the mantissa. */
const RANGE_DIGITS = 5;
const HEX_DIGITS = Array.from('0123456789abcdef');

/**
 * Returns the tags, for a TAG field, by which filters can find a document. A document that matches an equality, an
 * existence or a range has the tag of that condition; a field that every document has needs no tag for its existence.
 * Values are read through the same paths as in the filters' own check.
 */
export function filterTags(document: MatchableDocument): string[] {
  const paths = new Set([...documentFieldNames, ...unhiddenFieldNames]);
  collectPaths(document.metadata, [], paths);
  const tags = new Set<string>();
  for (const path of paths) {
    const value = readerOf(path)(document);
    if (value === undefined) continue;
    if (!isOwnField(path)) tags.add(existsTag(path));
    for (const element of Array.isArray(value) ? value : [value]) addElementTags(tags, path, element);
  }
  return [...tags];
}

/** Readers of the fields that every document has are made once. */
const fieldReaders = new Map(
  [...documentFieldNames, ...unhiddenFieldNames].map((name) => [name, createPathReader(name)]),
);
const readerOf = (path: string): PathReader => fieldReaders.get(path) ?? createPathReader(path);

export function existsTag(path: string): string {
  return tag('?', path, '', '');
}

export function equalsTag(path: string, value: Scalar): string {
  return tag('=', path, value === null ? 'null' : typeof value, Object.is(value, -0) ? 0 : value);
}

/** A document that passes the comparison has one of these tags; so has a document that only just fails. */
export function comparisonTags(path: string, comparison: Comparison, { type, value }: Operand): string[] {
  const bound = orderedHex(value).slice(0, RANGE_DIGITS);
  const isAbove = comparison === 'gt' || comparison === 'gte';
  const beyond = Array.from(bound).flatMap((digit, length) =>
    HEX_DIGITS.filter((other) => (isAbove ? other > digit : other < digit)).map(
      (other) => bound.slice(0, length) + other,
    ),
  );
  return [bound, ...beyond].map((prefix) => rangeTag(path, type, prefix));
}

/** The tag of a range of numbers; `prefix` is the first digits of an ordered double. */
function rangeTag(path: string, type: Operand['type'], prefix: string): string {
  return tag('~', path, type, prefix);
}

const double = new DataView(new ArrayBuffer(8));
const SIGN = 0x80000000;

/** The upper half of a double's bits as 8 hex digits that are ordered as the numbers are. */
function orderedHex(value: number): string {
  double.setFloat64(0, value === 0 ? 0 : value);
  const bits = double.getUint32(0);
  const ordered = bits >= SIGN ? ~bits : bits | SIGN;
  return (ordered >>> 0).toString(16).padStart(8, '0');
}

function addElementTags(tags: Set<string>, path: string, value: Json): void {
  if (typeof value === 'object' && value !== null) return;
  tags.add(equalsTag(path, value));
  if (typeof value === 'number') addRangeTags(tags, path, { type: 'number', value });
  const instant = typeof value === 'string' ? parseInstant(value) : null;
  if (instant !== null) addRangeTags(tags, path, { type: 'instant', value: instant });
}

function addRangeTags(tags: Set<string>, path: string, { type, value }: Operand): void {
  const digits = orderedHex(value);
  for (let length = 1; length <= RANGE_DIGITS; length += 1) {
    tags.add(rangeTag(path, type, digits.slice(0, length)));
  }
}

/** Paths lead through lists, so that a list stands where its elements do. */
function collectPaths(value: Json, keys: readonly string[], paths: Set<string>): void {
  if (Array.isArray(value)) for (const element of value) collectPaths(element, keys, paths);
  if (!isPlainObject(value) || keys.length >= MAX_METADATA_DEPTH) return;
  for (const [key, inner] of Object.entries(value)) {
    const path = [...keys, key];
    paths.add(path.join('.'));
    collectPaths(inner, path, paths);
  }
}

/** Recent tags are remembered, since most documents have nearly the same: of their paths, their readers and their day. */
const MAX_REMEMBERED = 20_000;
const MAX_REMEMBERED_LENGTH = 128;
const remembered = new Map<string, string>();

/**
 * Tags are hex only, so that nothing in a query needs escaping.
 * @param operator one character
 * @param type letters. Together with the operator it says whether the value is a text, a number or something else
 */
export function tag(operator: string, path: string, type: string, value: Scalar): string {
  // The length tells where the path ends, so that no two tags share a name. It is made sooner than JSON.
  const name = `${operator}${type}${String(path.length)}:${path}${String(value)}`;
  const known = remembered.get(name);
  if (known !== undefined) return known;
  const made = hash('sha256', JSON.stringify([operator, path, type, value]), 'hex').slice(0, 24);
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  if (name.length <= MAX_REMEMBERED_LENGTH) remembered.set(name, made);
  return made;
}
