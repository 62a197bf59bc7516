import { createHash, randomInt } from 'node:crypto';
import { z } from 'zod';
import { FAILURE_CODES } from './errors.js';
import { isPlainObject } from './is-plain-object.js';

export const DOCUMENT_STATUSES = ['queued', 'processing', 'completed', 'failed', 'cancelled'] as const;

export type Json = z.infer<ReturnType<typeof z.json>>;
export type Metadata = Record<string, Json>;
/** Checked when it came in; a record of zod would drop a key named `__proto__`, and walk every value at every read. */
export const metadataSchema = z.custom<Metadata>(isPlainObject);

const failureSchema = z.object({ code: z.enum(FAILURE_CODES), message: z.string(), stage: z.string() });
export type Failure = z.infer<typeof failureSchema>;

/** Source bytes of one version, and what was made of them. */
const contentSchema = z.object({
  version: z.number().int().positive(),
  kind: z.enum(['text', 'file']),
  contentType: z.string(),
  filename: z.string().nullable(),
  storageKey: z.string(),
  sizeBytes: z.number().int(),
  sha256: z.string(),
  /** ISO 8601, when this content was put in. */
  createdAt: z.string(),
  /** Set when the content is published. */
  generation: z.string().nullable(),
  chunkCount: z.number().int(),
  tokenCount: z.number().int(),
});
export type Content = z.infer<typeof contentSchema>;

/** What the usage record of a running ingest will say, written by the step that ends it. */
const operationSchema = z.object({
  id: z.string(),
  type: z.enum(['ingest_text', 'ingest_file']),
  userId: z.string(),
  startedAtMs: z.number(),
  metadata: metadataSchema,
});
export type IngestOperation = z.infer<typeof operationSchema>;

/**
 * The truth about a document, as its Redis hash holds it. Times are ISO 8601 UTC.
 * `published` is what searches answer from; `pending` the newest content while it is not published.
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
  /** Version of the newest content, published or not. */
  version: z.number().int().positive(),
  /** Runs at ingesting `version` so far; with the version it fences stale runs. */
  attempt: z.number().int().positive(),
  status: z.enum(DOCUMENT_STATUSES),
  stage: z.string(),
  progress: z.number(),
  error: failureSchema.nullable(),
  published: contentSchema.nullable(),
  pending: contentSchema.nullable(),
  operation: operationSchema.nullable(),
  /** Names the change whose tags the chunks must still get; 0 when they fit the record. */
  retag: z.number().int(),
  /** Raised by every change of the record; the commit script compares it, see `laterRevision`. */
  revision: z.number().int(),
});
export type DocumentRecord = z.infer<typeof documentSchema>;

/** The fields that access and filters look at: a record, or an index's copy of one. */
export const matchableSchema = documentSchema.pick({
  id: true,
  createdAt: true,
  readers: true,
  writers: true,
  admins: true,
  metadata: true,
  published: true,
  pending: true,
});
export type MatchableDocument = z.infer<typeof matchableSchema>;

/** The content that a Document shows: the published one, or the pending one while none is published. */
export function shownContent(document: Pick<DocumentRecord, 'published' | 'pending'>): Content {
  const content = document.published ?? document.pending;
  if (!content) throw new Error('document record without content');
  return content;
}

/** Whether the ingest of the newest content has ended, well or not. */
export const isFinal = ({ status }: Pick<DocumentRecord, 'status'>): boolean =>
  status !== 'queued' && status !== 'processing';

/** The user who asked for what is being ingested. */
export const callerOf = ({ operation, ownerId }: Pick<DocumentRecord, 'operation' | 'ownerId'>): string =>
  operation?.userId ?? ownerId;

/** The fields of a record that name the generation of its newest attempt. */
interface Attempt extends Pick<DocumentRecord, 'id' | 'version' | 'attempt'> {
  readonly pending: Pick<Content, 'storageKey'> | null;
  readonly published: Pick<Content, 'storageKey'> | null;
}

/**
 * The newest content's source has a random name, of which the generation has a digest: a Redis that comes back without
 * its last seconds gives version and attempt again, to other content, and what is still being written must not meet it.
 */
export function generationId({ id, version, attempt, pending, published }: Attempt): string {
  const content = pending ?? published;
  if (!content) throw new Error('document record without content');
  const digest = createHash('sha256').update(content.storageKey).digest('hex').slice(0, 8);
  return `${id}.${String(version)}.${String(attempt)}.${digest}`;
}

const MAX_STEP = 2 ** 24;

/**
 * Revisions rise by a random step, so that a Redis that comes back without its last changes does not give their revisions again: what
 * was made of those would pass for made of others. Half a billion changes of a record fit a number.
 */
export const laterRevision = (revision: number): number => revision + randomInt(1, MAX_STEP);
