import { hash } from 'node:crypto';
import { z } from 'zod';
import type { DocumentEntry } from '../../../../index/index.js';
import { mailHeadersSchema } from '../../../../readers/index.js';
import { isReader, type AccessLists } from '../../../access/access.js';
import {
  programmingLanguage,
  documentSchema,
  type DocumentRecord,
  type Extraction,
  type FilterableDocument,
  type Metadata,
} from '../../../document.js';
import { isPlainObject } from '../../../json-values.js';
import type { Mirrored } from './mirror.js';

/** The texts of a record's hash that the mirror reads. `access` holds one line of JSON for each access list. */
export interface RecordTexts {
  readonly access: string;
  /** JSON: `[createdAt, ownerId, metadata, published, pending, prepared, updatedAt, retag, collections]`. */
  readonly fields: string;
}

export interface ParsedRecord extends DocumentEntry<Mirrored> {
  readonly published: ParsedGeneration | null;
  /** The generation that is about to be published. */
  readonly prepared: ParsedGeneration | null;
}

export interface ParsedGeneration {
  /** The part of the generation's id after the document's id, in which most documents are equal. */
  readonly attempt: string;
  readonly chunkCount: number;
  /** The name of the file that its chunks are found by; undefined while they may hold another; see `LoadedChunks`. */
  readonly named: string | null | undefined;
}

/** @throws when the record does not fit the schema */
export type ParseRecord = (id: string, texts: RecordTexts) => ParsedRecord;

type Content = NonNullable<FilterableDocument['published']>;
type ReadContent = Pick<
  Content,
  'contentType' | 'filename' | 'generation' | 'chunkCount' | 'gaps' | 'extraction'
>;
type ReadGeneration = NonNullable<DocumentRecord['prepared']>;

const CACHED = 10_000;

/** Parses records. Most of them have the same access lists and kinds of content, which are parsed and held once. */
export function createRecordParser(): ParseRecord {
  const parseAccess = createAccessParser();
  const contents = new Map<string, Content>();
  const attempts = new Map<string, string>();
  const owners = new Map<string, string>();
  const membership = createMembership();
  // Hardly two mails are equal.
  const slim = (content: ReadContent): Content =>
    content.extraction?.mail
      ? slimContent(content)
      : remember(contents, looksOf(content), () => slimContent(content));

  return (id, { access, fields }) => {
    const { key: accessKey, lists } = parseAccess(access);
    const read = readFields(parse(fields));
    const [createdAt, owner, metadata, published, pending, prepared, updatedAt, retag, collections] = read;
    const ownerId = remember(owners, owner, () => owner);
    const shown = { published: published && slim(published), pending: pending && slim(pending) };
    const nameOf = (content: Content | null) => (retag === 0 ? (content?.filename ?? null) : undefined);
    const shared = (generation: ParsedGeneration | null): ParsedGeneration | null =>
      generation && {
        ...generation,
        attempt: remember(attempts, generation.attempt, () => generation.attempt),
      };
    return {
      id,
      fields: { id, ownerId, createdAt, updatedAt, metadata, ...shown, ...membership(collections) },
      access: lists,
      accessKey,
      statisticsOwner: isReader(ownerId, lists) ? ownerId : null,
      published: shared(published && parseGeneration(id, published, nameOf(shown.published))),
      prepared: shared(prepared && parseGeneration(id, prepared, nameOf(shown.pending))),
    };
  };
}

/** Most documents of a collection are in no other one, so that their lists are held once. */
function createMembership() {
  const known = new Map<string, string[]>();
  return (collections: string[] | null) =>
    collections && { collections: remember(known, collections.join(), () => collections) };
}

/** Null for a content that has no generation. */
function parseGeneration(
  id: string,
  { generation, chunkCount }: Pick<ReadContent, 'generation' | 'chunkCount'>,
  named: string | null | undefined,
): ParsedGeneration | null {
  if (generation?.startsWith(id) === false) throw new TypeError('a generation of another document');
  return generation === null ? null : { attempt: generation.slice(id.length), chunkCount, named };
}

/** Equal for contents between which filters make no difference. */
function looksOf({ contentType, filename, gaps, extraction }: ReadContent): string {
  const { parser = '', language = '' } = slimExtraction(extraction) ?? {};
  const looks = [
    contentType,
    gaps,
    parser,
    JSON.stringify(language),
    filename === null ? '' : `=${filename}`,
  ];
  return looks.map(String).join('\n');
}

/** Leaves out the parts that filters cannot ask for. Returns undefined for most documents. */
function slimExtraction(extraction: ReadContent['extraction']): ReadContent['extraction'] {
  if (!extraction) return undefined;
  const { parser, language, mail } = extraction;
  const code = programmingLanguage(extraction);
  if (code === undefined && language === null && !mail) return undefined;
  const slim = { title: null, unit: 'file', parts: 0, partsRead: 0, ocrPages: 0 } as const;
  return { ...slim, parser: code === undefined ? '' : parser, language, ...(mail && { mail }) };
}

function slimContent({ contentType, filename, gaps, extraction }: ReadContent): Content {
  const slim = slimExtraction(extraction);
  return {
    version: 1,
    kind: 'file',
    storageKey: '',
    sizeBytes: 0,
    sha256: '',
    createdAt: '',
    contentType,
    filename,
    generation: null,
    chunkCount: 0,
    tokenCount: 0,
    ...(gaps === undefined ? {} : { gaps }),
    ...(slim === undefined ? {} : { extraction: slim }),
  };
}

const parse = (text: string): unknown => JSON.parse(text);

/** Checks the fields by hand. A start reads a hundred thousand records, and the schema would take longer than all else. */
function readFields(
  value: unknown,
): [
  string,
  string,
  Metadata,
  ReadContent | null,
  ReadContent | null,
  ReadGeneration | null,
  string,
  number,
  string[] | null,
] {
  const fields = isList(value) ? value : [];
  const [createdAt, ownerId, metadata, published, pending, prepared = null, updatedAt = createdAt, retag] =
    fields;
  const collections = fields[8] ?? null;
  if (typeof createdAt !== 'string') throw new TypeError('malformed createdAt');
  if (typeof updatedAt !== 'string') throw new TypeError('malformed updatedAt');
  if (typeof ownerId !== 'string') throw new TypeError('malformed ownerId');
  if (!isMetadata(metadata)) throw new TypeError('malformed metadata');
  if (!isContent(published)) throw new TypeError('malformed published content');
  if (!isContent(pending)) throw new TypeError('malformed pending content');
  if (!isGeneration(prepared)) throw new TypeError('malformed prepared generation');
  if (retag != null && typeof retag !== 'number') throw new TypeError('malformed retag');
  if (!isIds(collections)) throw new TypeError('malformed collections');
  return [createdAt, ownerId, metadata, published, pending, prepared, updatedAt, retag ?? 0, collections];
}

const isIds = (value: unknown): value is string[] | null =>
  value === null || (isList(value) && value.every((id) => typeof id === 'string'));

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

const isMetadata = (value: unknown): value is Metadata => isPlainObject(value);

function isContent(value: unknown): value is ReadContent | null {
  if (value === null) return true;
  if (typeof value !== 'object') return false;
  const read: Partial<Record<keyof Content, unknown>> = value;
  const { contentType, filename, generation, chunkCount, gaps, extraction } = read;
  return (
    typeof contentType === 'string' &&
    (filename === null || typeof filename === 'string') &&
    (generation === null || typeof generation === 'string') &&
    Number.isInteger(chunkCount) &&
    (gaps === undefined || Number.isInteger(gaps)) &&
    (extraction === undefined || isExtraction(extraction))
  );
}

function isExtraction(value: unknown): value is Extraction {
  if (!isPlainObject(value)) return false;
  const { parser, language, mail }: Partial<Record<keyof Extraction, unknown>> = value;
  return (
    typeof parser === 'string' &&
    (language === null || typeof language === 'string') &&
    (mail === undefined || mailHeadersSchema.safeParse(mail).success)
  );
}

function isGeneration(value: unknown): value is ReadGeneration | null {
  if (value === null) return true;
  if (!isPlainObject(value)) return false;
  const { generation, chunkCount }: Partial<Record<keyof ReadGeneration, unknown>> = value;
  return typeof generation === 'string' && Number.isInteger(chunkCount);
}

function remember<Value>(cache: Map<string, Value>, key: string, make: () => Value): Value {
  const known = cache.get(key);
  if (known !== undefined) return known;
  if (cache.size >= CACHED) cache.clear();
  const value = make();
  cache.set(key, value);
  return value;
}

interface KeyedAccess {
  /** The same for the same text, and short however long that is. */
  readonly key: string;
  readonly lists: AccessLists;
}

/** @throws when a line is not a list of ids */
type ParseAccess = (text: string) => KeyedAccess;

/** The size of the cache. Three lists of a thousand of the longest ids take a tenth of it. */
const MAX_CACHED_BYTES = 16 * 2 ** 20;
/** A text up to this long is its own key: most lists name one or two users, and a digest takes longer than they do. */
const SHORT_TEXT = 256;
/** Bytes that an id, and an entry, take of the heap besides their characters, of which each has two bytes at most. */
const ID_BYTES = 48;
const ENTRY_BYTES = 512;

const linesSchema = z.tuple([z.string(), z.string(), z.string()]);
const accessSchema = documentSchema.pick({ readers: true, writers: true, admins: true });

/**
 * Most records share their access lists, so those are parsed once and kept in a cache. A caller who patches one document
 * again and again makes new lists each time, so that the least recently used ones are evicted. Documents of the mirror keep
 * references to their own lists.
 */
function createAccessParser(): ParseAccess {
  /** In the order of their last use, the least recent first. */
  const cache = new Map<string, { readonly access: KeyedAccess; readonly bytes: number }>();
  let cachedBytes = 0;

  return (text) => {
    const key = text.length <= SHORT_TEXT ? text : hash('sha256', text, 'base64');
    const before = cache.get(key);
    const entry = before ?? parseEntry(key, text);
    cache.delete(key);
    cache.set(key, entry);
    if (!before) cachedBytes += entry.bytes;
    for (const [oldest, { bytes }] of cache) {
      if (cachedBytes <= MAX_CACHED_BYTES) break;
      cache.delete(oldest);
      cachedBytes -= bytes;
    }
    return entry.access;
  };
}

function parseEntry(key: string, text: string) {
  const [readers, writers, admins] = linesSchema.parse(text.split('\n'));
  const lists = accessSchema.parse({
    readers: parse(readers),
    writers: parse(writers),
    admins: parse(admins),
  });
  const ids = lists.readers.length + lists.writers.length + lists.admins.length;
  return { access: { key, lists }, bytes: ENTRY_BYTES + ids * ID_BYTES + 2 * text.length };
}
