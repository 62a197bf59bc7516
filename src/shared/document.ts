import { hash, randomInt } from 'node:crypto';
import { z } from 'zod';
import { mailHeadersSchema, OCR_MODES, PART_UNITS } from '../readers/index.js';
import { chunkingSchema } from './chunking.js';
import { FAILURE_CODES } from './errors.js';
import { isPlainObject, toWellFormed } from './json-values.js';

export const DOCUMENT_STATUSES = ['queued', 'processing', 'completed', 'failed', 'cancelled'] as const;

export type Json = z.infer<ReturnType<typeof z.json>>;
export type Metadata = Record<string, Json>;
/** Metadata was checked when it came in. A record of zod would drop the key `__proto__`, and walk every value at every read. */
export const metadataSchema = z.custom<Metadata>(isPlainObject);

const failureSchema = z.object({ code: z.enum(FAILURE_CODES), message: z.string(), stage: z.string() });
export type Failure = z.infer<typeof failureSchema>;

/** The short form of the receipt of a file; see `Receipt`. */
const extractionSchema = z.object({
  parser: z.string(),
  title: z.string().nullable(),
  language: z.string().nullable(),
  unit: z.enum(PART_UNITS),
  parts: z.number().int(),
  partsRead: z.number().int(),
  ocrPages: z.number().int(),
  /** Absent for all that is no single message. */
  mail: mailHeadersSchema.optional(),
});
export type Extraction = z.infer<typeof extractionSchema>;

/** The reader of source code says which language it is in; undefined for all other files. */
export function programmingLanguage(extraction: Extraction | undefined): string | undefined {
  const [reader, language] = extraction?.parser.split(':', 2) ?? [];
  return reader === 'code' ? language : undefined;
}

/** The documents that are made of the files that a content carries. Their ids come from the content. */
const carriedSchema = z.object({
  /** All of them, made or about to be. */
  ids: z.array(z.string()),
  /** The attachments of which documents are made as soon as the content is published and there is room for them. */
  waiting: z.array(z.string()),
  /** The attachments of which no documents were made after all. */
  missed: z.array(z.string()),
  /** The caller on whose behalf they are made. */
  callerId: z.string(),
});
export type Carried = z.infer<typeof carriedSchema>;

/** The source bytes of one version, and the results of reading them. */
const contentSchema = z.object({
  version: z.number().int().positive(),
  kind: z.enum(['text', 'file']),
  contentType: z.string(),
  filename: z.string().nullable(),
  storageKey: z.string(),
  sizeBytes: z.number().int(),
  sha256: z.string(),
  /** When the content was put in, as ISO 8601. */
  createdAt: z.string(),
  /** The generation that was published; null before that. */
  generation: z.string().nullable(),
  chunkCount: z.number().int(),
  tokenCount: z.number().int(),
  /** The number of gaps, once it was read; 0 for texts. Contents of earlier versions lack the field. */
  gaps: z.number().int().optional(),
  /** The way it was read; absent for texts, and until then. */
  extraction: extractionSchema.optional(),
  /** The pages that are read by text recognition, if that was stated for it. */
  ocr: z.enum(OCR_MODES).optional(),
  /** The way in which it is cut into chunks, if that was stated for it. */
  chunking: chunkingSchema.optional(),
  /** Absent where it carries no files of which documents are made. */
  carried: carriedSchema.optional(),
  /** The number of times that documents of its attachments were taken back, if ever. Later ones have other ids. */
  carriedSeries: z.number().int().positive().optional(),
});
export type Content = z.infer<typeof contentSchema>;

/** The size of a content; 0 for a document that has none. */
export const contentBytes = (content: Pick<Content, 'sizeBytes'> | null): number => content?.sizeBytes ?? 0;

/** The gaps of a content that are known; 0 for contents of earlier versions, and until it is read. */
export const knownGaps = ({ gaps }: Pick<Content, 'gaps'>): number => gaps ?? 0;

/** The operation behind a running ingest. The step that ends the ingest makes its usage record. */
const operationSchema = z.object({
  id: z.string(),
  type: z.enum(['ingest_text', 'ingest_file']),
  userId: z.string(),
  startedAtMs: z.number(),
  metadata: metadataSchema,
});
export type IngestOperation = z.infer<typeof operationSchema>;

/**
 * The record of a document as its Redis hash holds it, which is the truth about the document. Times are ISO 8601 in
 * UTC. Searches answer from `published`; `pending` is the newest content until it is published.
 */
export const documentSchema = z.object({
  id: z.string(),
  ownerId: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
  readers: z.array(z.string()),
  writers: z.array(z.string()),
  admins: z.array(z.string()),
  metadata: metadataSchema,
  /** The name of its source, such as a path or an address, which no other document of the owner has; absent for most. */
  sourceId: z.string().nullish(),
  /** The collections that it was put into; absent for most. Collections that are gone may be among them. */
  collections: z.array(z.string()).nullish(),
  /** The version of the newest content, published or not. */
  version: z.number().int().positive(),
  /** The number of runs at ingesting `version`. Both together fence off stale runs. */
  attempt: z.number().int().positive(),
  status: z.enum(DOCUMENT_STATUSES),
  stage: z.string(),
  progress: z.number(),
  error: failureSchema.nullable(),
  published: contentSchema.nullable(),
  pending: contentSchema.nullable(),
  operation: operationSchema.nullable(),
  /**
   * The generation of the newest attempt, once it is whole and indexes may load it, before it is published. Only long
   * documents have one. Records of earlier versions lack the field.
   */
  prepared: z.object({ generation: z.string(), chunkCount: z.number().int() }).nullable().default(null),
  /** The document whose attachment it was, and how many documents are around it; absent for all others. */
  attachmentOf: z.object({ documentId: z.string(), depth: z.number().int() }).nullish(),
  /** The documents that were made of its attachments, or are about to be, of all its contents; they are removed with it. */
  attachments: z.array(z.string()).nullish(),
  /** Documents of attachments of contents that were replaced or cancelled. */
  replacedAttachments: z
    .object({
      /** The documents that are to be removed now, and on whose behalf. */
      removals: z.array(z.object({ id: z.string(), callerId: z.string() })),
      /**
       * The documents that stay as documents of their own, because the caller who has ended the content may not remove
       * them.
       */
      kept: z.array(z.string()),
    })
    .nullish(),
  /** The access of new documents of its attachments while a change of it is on its way to the existing ones. */
  accessChange: z
    .object({
      id: z.string(),
      readers: z.array(z.string()),
      writers: z.array(z.string()),
      admins: z.array(z.string()),
    })
    .nullish(),
  /** The callers who have left the document, and the lists that would name them else; see `access/leaving.ts`. */
  left: z
    .array(z.object({ id: z.string(), lists: z.array(z.enum(['readers', 'writers', 'admins'])) }))
    .nullish(),
  /** True if more have left the document than are noted, so that nobody may be added to its lists; absent for most. */
  leftUnnoted: z.boolean().nullish(),
  /** Names the change of access or metadata that the chunks' tags do not show yet; 0 when they do. */
  retag: z.number().int(),
  /** Rises with every change of the record, and is compared by the commit script; see `laterRevision`. */
  revision: z.number().int(),
});
export type DocumentRecord = z.infer<typeof documentSchema>;

/** The fields that access and filters read, of a record or of an index's copy. */
export const matchableSchema = documentSchema.pick({
  id: true,
  ownerId: true,
  createdAt: true,
  readers: true,
  writers: true,
  admins: true,
  metadata: true,
  collections: true,
  published: true,
  pending: true,
});
export type MatchableDocument = z.infer<typeof matchableSchema>;
/** The part of it that filters look at. */
export type FilterableDocument = Omit<MatchableDocument, 'readers' | 'writers' | 'admins'>;

/** The fields that tell whether anything is still being done with a document. */
export const stateSchema = documentSchema.pick({ status: true, retag: true });
export type DocumentState = z.infer<typeof stateSchema>;

/** The newest content, published or not. */
export const newestContent = ({
  pending,
  published,
}: Pick<DocumentRecord, 'published' | 'pending'>): Content | null => pending ?? published;

/** The content that the API shows: the published one, or the pending one while none is published. */
export function shownContent(document: Pick<DocumentRecord, 'published' | 'pending'>): Content {
  const content = document.published ?? document.pending;
  if (!content) throw new Error('document record without content');
  return content;
}

/** Tells whether the ingest of the newest content has ended, well or not. */
export const isFinal = ({ status }: Pick<DocumentRecord, 'status'>): boolean =>
  status !== 'queued' && status !== 'processing';

/** Tells whether an ingest failed by our fault, so that it is worth trying again. */
export const isOurFailure = ({ status, error }: Pick<DocumentRecord, 'status' | 'error'>): boolean =>
  status === 'failed' && (error?.code === 'provider' || error?.code === 'internal');

/** The user who asked for the ingest that is under way, or else the owner. */
export const callerOf = ({ operation, ownerId }: Pick<DocumentRecord, 'operation' | 'ownerId'>): string =>
  operation?.userId ?? ownerId;

/** The fields that name the generation of a record's newest attempt. */
interface Attempt extends Pick<DocumentRecord, 'id' | 'version' | 'attempt'> {
  readonly pending: Pick<Content, 'storageKey'> | null;
  readonly published: Pick<Content, 'storageKey'> | null;
}

/**
 * Names the generation of a record's newest attempt. The name includes a digest of the source's
 * storage key, which is random: a Redis that comes back without its last seconds gives the same
 * version and attempt to other content, and the two must not mix.
 */
export function generationId({ id, version, attempt, pending, published }: Attempt): string {
  const content = pending ?? published;
  if (!content) throw new Error('document record without content');
  const digest = hash('sha256', content.storageKey, 'hex').slice(0, 8);
  return `${id}.${String(version)}.${String(attempt)}.${digest}`;
}

const MAX_STEP = 2 ** 24;

/**
 * The next revision of a record. It rises by a random step, because a Redis that comes back
 * without its last changes would otherwise give their revisions again, to other changes. A
 * number has room for half a billion changes of a record.
 */
export const laterRevision = (revision: number): number => revision + randomInt(1, MAX_STEP);

/** States of a document in which alone it may be changed, as `If-Match` names them. */
export type Precondition =
  /** Any state of a document that is there. */
  | { readonly type: 'any' }
  /** Versions of its content, or states by their entity tags. */
  | { readonly type: 'tags'; readonly tags: readonly string[] };

/**
 * Names the state of the parts of a document that callers can change: content, metadata, name and access. It begins with
 * the version. The progress of an ingest is not a part of it: nobody's change would be lost by that.
 */
export function entityTag(record: DocumentRecord): string {
  const { version, metadata, readers, writers, admins } = record;
  const state = [version, metadata, shownContent(record).filename, readers, writers, admins];
  return `${String(version)}-${hash('sha256', JSON.stringify(state), 'hex').slice(0, 16)}`;
}

/** Tells whether a document is in one of the states; a version alone stands for all states with that content. */
export const fulfils = (record: DocumentRecord, precondition: Precondition): boolean =>
  precondition.type === 'any' ||
  precondition.tags.includes(String(record.version)) ||
  precondition.tags.includes(entityTag(record));

export const MAX_FILENAME_CHARACTERS = 255;

/**
 * Makes a file name safe to show: removes folders, control characters and characters that change the direction of text,
 * and shortens it to 255 characters with its extension. Null when nothing is left.
 */
export function displayFilename(name: string | null | undefined): string | null {
  if (name == null) return null;
  const base = name.replace(/^.*[/\\]/s, '');
  const visible = toWellFormed(base.replace(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, ''));
  const trimmed = visible.trim();
  return trimmed === '' || trimmed === '.' || trimmed === '..' ? null : shorten(trimmed);
}

function shorten(name: string): string {
  const characters = Array.from(name);
  if (characters.length <= MAX_FILENAME_CHARACTERS) return name;
  const extension = Array.from(/\.[^.]{1,16}$/.exec(name)?.[0] ?? '');
  return [...characters.slice(0, MAX_FILENAME_CHARACTERS - extension.length), ...extension].join('');
}
