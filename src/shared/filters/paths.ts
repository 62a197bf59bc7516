import { programmingLanguage, shownContent, type Json, type FilterableDocument } from '../document.js';
import { isPlainObject } from '../json-values.js';

/** Metadata may be nested this deep. Deeper values are neither stored nor looked for. */
export const MAX_METADATA_DEPTH = 64;

type JsonObject = Readonly<Record<string, Json>>;
export type PathReader = (document: FilterableDocument) => Json | undefined;

/** The fields that filters can name beside metadata. A metadata key of the same name takes precedence. */
const DOCUMENT_FIELDS: ReadonlyMap<string, PathReader> = new Map<string, PathReader>([
  ['external_id', (document) => document.id],
  ['filename', (document) => shownContent(document).filename],
  ['content_type', (document) => shownContent(document).contentType],
  ['created_at', (document) => document.createdAt],
  ['system_metadata.gaps', (document) => shownContent(document).gaps],
  ['system_metadata.extraction.language', (document) => extractionOf(document)?.language ?? undefined],
  ['system_metadata.programming_language', (document) => programmingLanguage(extractionOf(document))],
  ['system_metadata.mail.from', (document) => extractionOf(document)?.mail?.from],
  ['system_metadata.mail.to', (document) => extractionOf(document)?.mail?.to],
  ['system_metadata.mail.cc', (document) => extractionOf(document)?.mail?.cc],
  ['system_metadata.mail.date', (document) => extractionOf(document)?.mail?.date ?? undefined],
  ['system_metadata.mail.subject', (document) => extractionOf(document)?.mail?.subject ?? undefined],
  ['system_metadata.mail.message_id', (document) => extractionOf(document)?.mail?.message_id ?? undefined],
]);
/** The path of a document's owner. */
export const OWNER_PATH = 'system_metadata.owner';
/** The id of a document in conditions that the service makes itself: the names of clients' keys do not begin with `$`. */
export const ID_PATH = '$id';
/** The collections of a document, in such conditions. Few documents have any. */
export const COLLECTIONS_PATH = '$collections';
/** The fields that metadata of the same name does not hide, so that nobody can pass a document off as another's. */
const OWN_FIELDS: ReadonlyMap<string, PathReader> = new Map<string, PathReader>([
  [OWNER_PATH, (document) => document.ownerId],
  [ID_PATH, (document) => document.id],
]);
const UNHIDDEN_FIELDS: ReadonlyMap<string, PathReader> = new Map<string, PathReader>([
  ...OWN_FIELDS,
  [COLLECTIONS_PATH, ({ collections }) => (collections && collections.length > 0 ? collections : undefined)],
]);
export const unhiddenFieldNames: readonly string[] = [...UNHIDDEN_FIELDS.keys()];
/** Tells whether each document has exactly one text in this field. */
export const isOwnField = (path: string): boolean => OWN_FIELDS.has(path);

const extractionOf = (document: FilterableDocument) => shownContent(document).extraction;
export const documentFieldNames: readonly string[] = [...DOCUMENT_FIELDS.keys()];

/**
 * Prepares to read the value that a filter's key names, undefined where a document has none. `a.b` is the literal key "a.b"
 * if there is one, else `b` inside the object `a`, and so on inward. Where `a` is a list, it is `b` inside of each object
 * in it: the values of all of them, as one list. File names are read in Unicode's normal form C.
 */
export function createPathReader(path: string): PathReader {
  const unhiddenField = UNHIDDEN_FIELDS.get(path);
  if (unhiddenField) return unhiddenField;
  const steps = splitPath(path);
  const readField = DOCUMENT_FIELDS.get(path);
  if (!readField) return (document) => readSteps(document.metadata, steps);
  const read: PathReader = (document) => {
    const value = readSteps(document.metadata, steps);
    return value === undefined ? readField(document) : value;
  };
  return path === 'filename' ? (document) => inNormalForm(read(document)) : read;
}

/** A value as a filter on this path compares it: macOS and keyboards write the same file name in different signs. */
export const asCompared = <Value extends Json>(path: string, value: Value): Value | string =>
  path === 'filename' && typeof value === 'string' ? value.normalize('NFC') : value;

function inNormalForm(value: Json | undefined): Json | undefined {
  if (value === undefined) return undefined;
  return Array.isArray(value)
    ? value.map((each) => asCompared('filename', each))
    : asCompared('filename', value);
}

interface Step {
  /** The rest of the path, which is tried as a literal key first. */
  readonly rest: string;
  /** The part before the first dot; null without a dot. */
  readonly head: string | null;
}

function splitPath(path: string): Step[] {
  const steps: Step[] = [];
  let rest = path;
  while (steps.length < MAX_METADATA_DEPTH) {
    const dot = rest.indexOf('.');
    steps.push({ rest, head: dot < 0 ? null : rest.slice(0, dot) });
    if (dot < 0) break;
    rest = rest.slice(dot + 1);
  }
  return steps;
}

/** Reads own keys only, so that `__proto__` and `constructor` name nothing that a client has not stored. */
function readSteps(metadata: JsonObject, steps: readonly Step[], first = 0): Json | undefined {
  let object = metadata;
  for (let at = first; at < steps.length; at += 1) {
    const { rest = '', head = null } = steps[at] ?? {};
    if (Object.hasOwn(object, rest)) return object[rest];
    if (head === null || !Object.hasOwn(object, head)) return undefined;
    const inner = object[head];
    if (Array.isArray(inner)) return readInList(inner, steps, at + 1);
    if (!isPlainObject(inner)) return undefined;
    object = inner;
  }
  return undefined;
}

/** Reads from each object of a list, also of lists within it; undefined where none of them has such a thing. */
function readInList(list: readonly Json[], steps: readonly Step[], next: number): Json[] | undefined {
  const found: Json[] = [];
  let isFound = false;
  for (const element of list) {
    const value = Array.isArray(element)
      ? readInList(element, steps, next)
      : isPlainObject(element)
        ? readSteps(element, steps, next)
        : undefined;
    if (value === undefined) continue;
    isFound = true;
    if (Array.isArray(value)) found.push(...value);
    else found.push(value);
  }
  return isFound ? found : undefined;
}
