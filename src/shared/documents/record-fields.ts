import type { z } from 'zod';
import { accessTags } from '../access/access.js';
import {
  documentSchema,
  matchableSchema,
  stateSchema,
  type DocumentRecord,
  type DocumentState,
  type MatchableDocument,
} from '../document.js';
import { MalformedRecordError } from '../errors.js';
import { filterTags } from '../filters/index-tags.js';
import type { Logger } from '../observability/logger.js';
import type { Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';

/** The fields of a record's hash without the tags, which may be many and are only for the index. */
export const RECORD_FIELDS = Object.keys(documentSchema.shape);

/**
 * The digest of the stream line, of a request with an `Idempotency-Key`, that made the document. Only some records have
 * this field, and no record is read with it.
 */
export const LINE_DIGEST = 'line';

/** Reads the digests of the lines by which documents were made, in the order of their ids; null for all others. */
export const readLineDigests = (redis: Redis, ids: readonly string[]): Promise<(string | null)[]> =>
  Promise.all(ids.map((id) => redis.hGet(keys.document(id), LINE_DIGEST)));

/** The field beside those of the record that names the group in which a new document is ingested. */
export const GROUP_FIELD = 'group';

/** Null when there is no such document. */
export async function readRecord(redis: Redis, id: string): Promise<DocumentRecord | null> {
  return parseRecord(await redis.hmGet(keys.document(id), RECORD_FIELDS));
}

/** Parses the values of `RECORD_FIELDS`; null when there is no such document. */
export const parseRecord = (values: readonly (string | null)[]): DocumentRecord | null =>
  parseFields(documentSchema, RECORD_FIELDS, values);

/** The fields that access and filters read. They are less than half of a record and are read in half the time. */
export const MATCHABLE_FIELDS = Object.keys(matchableSchema.shape);

/** Null when there is no such document. */
export const parseMatchable = (values: readonly (string | null)[]): MatchableDocument | null =>
  parseFields(matchableSchema, MATCHABLE_FIELDS, values);

const STATE_FIELDS = Object.keys(stateSchema.shape);

/** Null when there is no such document. */
export async function readState(redis: Redis, id: string): Promise<DocumentState | null> {
  return parseFields(stateSchema, STATE_FIELDS, await redis.hmGet(keys.document(id), STATE_FIELDS));
}

/** Parses the fields `names` of a record's hash; null when there is no such document. */
function parseFields<Schema extends z.ZodType>(
  schema: Schema,
  names: readonly string[],
  values: readonly (string | null)[],
): z.infer<Schema> | null {
  try {
    const fields = names.flatMap((name, i): [string, unknown][] => {
      const value = values[i];
      return value == null ? [] : [[name, parseJson(value)]];
    });
    return fields.length === 0 ? null : schema.parse(Object.fromEntries(fields));
  } catch (error) {
    throw new MalformedRecordError('the record of a document cannot be read', { cause: error });
  }
}

const parseJson = (text: string): unknown => JSON.parse(text);

/** Parses a JSON list of the values of `RECORD_FIELDS`. @throws MalformedRecordError */
export function parseRecordList(text: string): DocumentRecord {
  try {
    const values = parseJson(text);
    if (!Array.isArray(values)) throw new TypeError('not a list');
    const record: Record<string, unknown> = {};
    for (const [i, name] of RECORD_FIELDS.entries()) record[name] = values[i];
    return documentSchema.parse(record);
  } catch (error) {
    throw new MalformedRecordError('the record of a document cannot be read', { cause: error });
  }
}

/** Called with the document whose record cannot be read, and with the error. */
export type OnMalformed = (documentId: string, error: unknown) => void;

/**
 * Makes a handler for errors of reading one of many records. A malformed record counts
 * as absent, so that it hides only its own document.
 *
 * @returns the handler for the record of `documentId`, which throws every other error again
 */
export function absentIfMalformed(documentId: string, onMalformed: OnMalformed): (error: unknown) => null {
  return (error) => {
    if (!(error instanceof MalformedRecordError)) throw error;
    onMalformed(documentId, error);
    return null;
  };
}

/** Logs malformed records. */
export function logMalformed(logger: Logger): OnMalformed {
  return (documentId, error) => {
    logger.error({ documentId, err: error }, 'a document is left out: its record is malformed');
  };
}

/** Throws the error, for processes that must not go on without a document. */
export const refuseMalformed: OnMalformed = (_documentId, error) => {
  throw error;
};

/** The hash of a record: every field as JSON, and `tags`, by which an index over records filters. */
function documentFields(record: DocumentRecord): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const [name, value] of Object.entries(record)) fields[name] = JSON.stringify(value);
  fields['tags'] = documentTags(record);
  return fields;
}

/** The fields that tags are made of. */
const TAGGED = ['ownerId', 'readers', 'writers', 'admins', 'metadata', 'collections', 'published', 'pending'];

/**
 * Returns the fields of a record's hash that must be written. The tags cost the most, so they are made only when they may
 * differ.
 */
export function changedFields(before: DocumentRecord | null, after: DocumentRecord): Record<string, string> {
  if (!before) return documentFields(after);
  const changed = changedJsonFields(before, after);
  const isTagged = TAGGED.some((name) => name in changed);
  return { ...changed, ...(isTagged ? { tags: documentTags(after) } : {}) };
}

/** The fields of a record's hash that differ, without its tags. A value that is the very same is not compared as JSON. */
export function changedJsonFields(before: DocumentRecord, after: DocumentRecord): Record<string, string> {
  const old: Readonly<Record<string, unknown>> = before;
  const changed: Record<string, string> = {};
  for (const [name, value] of Object.entries(after)) {
    const former = old[name];
    if (value === former) continue;
    const json = JSON.stringify(value);
    // Only lists and objects may differ and be the same as JSON.
    const mayBeSame = typeof value === 'object' && typeof former === 'object';
    if (!mayBeSame || json !== JSON.stringify(former)) changed[name] = json;
  }
  return changed;
}

/** The access and filter tags of a document, separated by commas, as its record and its published chunks hold them. */
export function documentTags(document: MatchableDocument): string {
  return [...accessTags(document), ...filterTags(document)].join(',');
}
