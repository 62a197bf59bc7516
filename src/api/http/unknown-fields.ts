import { z } from 'zod';
import type { ValidationItem } from '../../shared/errors.js';
import { isPlainObject } from '../../shared/json-values.js';
import { HttpError } from './http-error.js';
import { MAX_ITEMS } from './validation/validation-errors.js';

/** The treatment of fields that a route does not know, where a request does not say it. */
export type UnknownFields = 'ignore' | 'refuse';

type Location = 'body' | 'query';

/** Fields of existing clients for features that Quire does not have. They are ignored where others are refused, too. */
const CLIENT_FIELDS: ReadonlySet<string> = new Set([
  'rules',
  'use_reranking',
  'use_colpali',
  'folder_name',
  'end_user_id',
  'graph_name',
  'hop_depth',
  'include_paths',
]);

/** The fields of one request that its route does not know. They are refused, or the answer names them. */
export interface IgnoredFields {
  /** Looks through a part of the request. @returns the fields to be refused, so that all failures are listed together */
  readonly check: (schema: z.ZodType, value: unknown, location: Location) => ValidationItem[];
  /** The same for one of many items. @throws HttpError 422 */
  readonly checkItem: (schema: z.ZodType, value: unknown, place: ItemPlace) => void;
  /** Notes a field of a form. @throws HttpError 422 */
  readonly note: (name: string, known: readonly string[]) => void;
  /** Returns the names of the fields of an item, once; undefined where there are none. */
  readonly takeItem: (index: number) => string[] | undefined;
  /** Adds the report about them to the headers of an answer. */
  readonly addTo: (headers: Readonly<Record<string, string>>) => Record<string, string>;
}

/** The number of an item, and the field of the body that it is in; null for a line of a stream. */
interface ItemPlace {
  readonly index: number;
  readonly list: string | null;
}

/** The preference in the header `Prefer` about fields that the route does not know; null when it has none. */
interface Preference {
  readonly handling: 'strict' | 'lenient' | null;
}

export function createIgnoredFields({ handling }: Preference, byDefault: UnknownFields): IgnoredFields {
  const isStrict = handling === null ? byDefault === 'refuse' : handling === 'strict';
  const ignored = createNames();
  const ofItems = new Map<number, string[]>();
  const sort = createSort(isStrict);
  return {
    check: (schema, value, location) => sort(findUnknown(schema, value), location, ignored.add),
    checkItem: (schema, value, { index, list }) => {
      const names: string[] = [];
      const refused = sort(findUnknown(schema, value), 'body', (loc) => {
        ignored.add([...(list === null ? [] : [list]), index, ...loc]);
        if (names.length < MAX_NAMES) names.push(nameOf(loc));
      });
      if (refused.length > 0) throw new HttpError(422, refused);
      if (names.length > 0) ofItems.set(index, names);
    },
    note: (name, known) => {
      const refused = sort([{ loc: [name], known }], 'body', ignored.add);
      if (refused.length > 0) throw new HttpError(422, refused);
    },
    takeItem: (index) => {
      const names = ofItems.get(index);
      ofItems.delete(index);
      return names;
    },
    addTo: (headers) => {
      const applied = [headers['Preference-Applied'], handling === null ? undefined : `handling=${handling}`];
      const names = ignored.text();
      return {
        ...headers,
        ...(applied.some(Boolean) && { 'Preference-Applied': applied.filter(Boolean).join(', ') }),
        ...(names !== '' && { 'Quire-Ignored': names }),
      };
    },
  };
}

/** Sorts unknown fields into refused ones, which it returns, and ignored ones. */
const createSort =
  (isStrict: boolean) =>
  (unknown: Iterable<UnknownField>, location: Location, onIgnored: (loc: Loc) => void): ValidationItem[] => {
    const refused: ValidationItem[] = [];
    for (const field of unknown) {
      if (!isStrict || isOfClients(field.loc)) onIgnored(field.loc);
      else if (refused.push(refusal(field, location)) === MAX_ITEMS) break;
    }
    return refused;
  };

type Loc = UnknownField['loc'];

const isOfClients = ([name, ...inner]: Loc): boolean =>
  inner.length === 0 && typeof name === 'string' && CLIENT_FIELDS.has(name);

function refusal({ loc, known }: UnknownField, location: Location): ValidationItem {
  const near = nearestName(String(loc.at(-1)), known);
  const hint = near === null ? '' : `; did you mean '${near}'?`;
  const shown = loc.map((key) => (typeof key === 'string' ? key.slice(0, MAX_SHOWN) : key));
  return { loc: [location, ...shown], msg: `extra fields not permitted${hint}`, type: 'value_error.extra' };
}

/** The most names that an answer lists, and the most characters of one. */
const MAX_NAMES = 20;
const MAX_NAME = 80;
/** The most characters of a name in an error. */
const MAX_SHOWN = 256;

/**
 * Collects the names of ignored fields, each once, in the order in which they are found. `...` stands for names beyond the
 * limit.
 */
function createNames() {
  const names = new Set<string>();
  return {
    add: (loc: Loc): void => {
      if (names.size < MAX_NAMES) names.add(nameOf(loc));
      else names.add('...');
    },
    text: () => [...names].join(', '),
  };
}

/** A field whose name has no letters. */
const NAMELESS = '""';

/** Writes a place with dots, in signs that are safe in a header; all others are written as in a URI. */
function nameOf(loc: Loc): string {
  const written = loc.map((key) => safe(typeof key === 'string' ? key.slice(0, MAX_NAME) : String(key)));
  const name = written.join('.') || NAMELESS;
  return name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME)}...`;
}

const safe = (key: string): string =>
  key
    .toWellFormed()
    .replace(/[^\w$-]/gu, (sign) =>
      sign === '.' ? sign : encodeURIComponent(sign).replace(/[!'()*]/g, '_'),
    );

/** A field of a request that its schema does not have, and the fields that stand in its place. */
interface UnknownField {
  readonly loc: readonly (string | number)[];
  readonly known: readonly string[];
}

/** Finds the fields of a value that a schema would drop, also inside of objects and lists that it describes. */
export function* findUnknown(
  schema: z.core.$ZodType,
  value: unknown,
  loc: UnknownField['loc'] = [],
): Generator<UnknownField> {
  const inner = unwrap(schema);
  // A list of a hundred thousand ids has nothing to be looked for.
  if (inner instanceof z.ZodArray && hasFields(inner.element) && Array.isArray(value)) {
    for (const [index, element] of value.entries())
      yield* findUnknown(inner.element, element, [...loc, index]);
  }
  if (!(inner instanceof z.ZodObject) || !isPlainObject(value) || inner.def.catchall) return;
  const shape: Readonly<Record<string, z.core.$ZodType>> = inner.shape;
  const known = Object.keys(shape);
  for (const [name, field] of Object.entries(value)) {
    const described = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (described) yield* findUnknown(described, field, [...loc, name]);
    else yield { loc: [...loc, name], known };
  }
}

function hasFields(schema: z.core.$ZodType): boolean {
  const inner = unwrap(schema);
  return inner instanceof z.ZodObject || (inner instanceof z.ZodArray && hasFields(inner.element));
}

/**
 * Takes away the wrappers that say when a value may be missing and how it is treated then, and leaves the description of
 * the value.
 */
function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  let inner = schema;
  for (;;) {
    if (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable || inner instanceof z.ZodDefault)
      inner = inner.def.innerType;
    else if (inner instanceof z.ZodPipe) inner = described(inner);
    else return inner;
  }
}

/**
 * Returns the schema that describes the value. A step that prepares a value stands before the schema of the value, and a
 * step that uses it behind.
 */
const described = ({ def }: z.ZodPipe): z.core.$ZodType =>
  def.in instanceof z.ZodTransform ? def.out : def.in;

/** Longer names are no slips of the pen; this bounds the work of a comparison. */
const MAX_COMPARED = 64;
/** A name is near if at most this share of its letters differs. */
const NEAR = 0.4;

/** Returns the name that was most likely meant; null where none is near. Case, `_` and `-` make no difference. */
export function nearestName(name: string, known: readonly string[]): string | null {
  if (name.length > MAX_COMPARED) return null;
  const wanted = plain(name);
  let best: { readonly name: string; readonly share: number } | null = null;
  for (const each of known) {
    const other = plain(each);
    const share = distance(wanted, other) / Math.max(wanted.length, other.length, 1);
    if (share <= NEAR && share < (best?.share ?? Infinity)) best = { name: each, share };
  }
  return best?.name ?? null;
}

const plain = (name: string): string => name.toLowerCase().replace(/[-_\s]/g, '');

/** Returns the number of letters to put in, leave out, replace or swap with their neighbour (optimal string alignment). */
function distance(a: string, b: string): number {
  let before: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = cell(last, j - 1) + Number(a[i - 1] !== b[j - 1]);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? cell(before, j - 2) + 1 : Infinity;
      row.push(Math.min(cell(last, j) + 1, cell(row, j - 1) + 1, replaced, swapped));
    }
    [before, last] = [last, row];
  }
  return cell(last, b.length);
}

const cell = (row: readonly number[], at: number): number => row[at] ?? Infinity;
