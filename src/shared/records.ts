import type { z } from 'zod';
import {
  documentSchema,
  laterRevision,
  matchableSchema,
  type DocumentRecord,
  type MatchableDocument,
} from './document.js';
import { AppError, UnavailableError } from './errors.js';
import { accessTags, audienceOf } from './audience.js';
import { TOO_MANY_AUDIENCES, UNKNOWN_AUDIENCE } from './audience-scripts.js';
import { createAudiences } from './audiences.js';
import { commitScript, NOT_WHOLE, REINDEXED } from './commit-script.js';
import { documentTokens } from './filter-tokens.js';
import { keys, toMember } from './keys.js';
import type { Redis } from './redis.js';
import { FIRST_VECTORS, type VectorSet } from './vectors.js';
import type { UsageEvent } from './usage.js';

/** What the hash of a generation holds in a field. */
export interface ExpectedField {
  readonly generation: string;
  readonly field: string;
  readonly value: string;
}

/** What a change of a record brings with it; all of it happens in the same script, or nothing does. */
export interface Effects {
  /** Generation whose chunks may be written from now on; hidden until it is published. */
  readonly open?: string;
  readonly unhide?: string;
  /** What must be done by now: Redis may have come back without the last of it. */
  readonly expected?: readonly ExpectedField[];
  /** Generations that nothing refers to any more: hidden, then unlinked in batches. */
  readonly discard?: readonly string[];
  /** Source objects that nothing refers to any more. */
  readonly discardObjects?: readonly string[];
  readonly usage?: readonly UsageEvent[];
  /** It takes something away, so that it has to go on when Redis is full. A removal always does. */
  readonly evenWhenFull?: boolean;
}

export type Change = (
  | { readonly record: DocumentRecord; readonly removed?: false }
  | { readonly removed: true; readonly record?: never }
) &
  Effects;

/** From the record as it stands to what it becomes; null leaves it alone (a stale run, nothing to do). */
export type Transition = (record: DocumentRecord) => Change | null;

export interface Records {
  read(id: string): Promise<DocumentRecord | null>;
  readMany(ids: readonly string[]): Promise<(DocumentRecord | null)[]>;
  create(record: DocumentRecord, effects?: Effects): Promise<void>;
  /**
   * Applies `transition` atomically, again on the newer record when another process came between. `known` is the record
   * as it was read a moment ago: it saves reading it again when nobody came between.
   */
  update(id: string, transition: Transition, known?: DocumentRecord): Promise<Updated>;
}

export interface Updated {
  /** Null when there is no such document (any more). */
  readonly record: DocumentRecord | null;
  /** False when the transition declined. */
  readonly changed: boolean;
  /** Generations to be cleaned now. */
  readonly discarded: readonly string[];
}

export function createRecords(redis: Redis, vectors: VectorSet = FIRST_VECTORS): Records {
  const read = async (id: string) =>
    parseFields(documentSchema, FIELDS, await redis.hmGet(keys.document(id), FIELDS));

  const audiences = createAudiences(redis);

  const commit = async (id: string, before: DocumentRecord | null, change: Change) => {
    const payload = {
      ...commitPayload(id, before, change),
      vectors: vectors.field,
      expected: (change.expected ?? []).map(({ generation, field, value }) => [generation, field, value]),
    };
    const touched = [
      ...new Set([
        ...[change.open, change.unhide, ...(change.discard ?? [])],
        ...(change.expected ?? []).map(({ generation }) => generation),
      ]),
    ].filter(isString);
    const usage = change.usage ?? [];
    const request = {
      keys: [
        ...[keys.document(id), keys.sequence, keys.changes, keys.tombstones, keys.unfinished, keys.hidden],
        ...[keys.garbage, keys.usageDirty, keys.unreferencedObjects, keys.draftObjects, keys.schema],
        ...[keys.ingests, keys.ingestsByCaller, keys.unreferencedAudiences, keys.audiencesWaiting],
        ...usage.map((event) => keys.usagePending(event.userId)),
        ...touched.map(keys.generation),
      ],
      arguments: [
        ...[JSON.stringify({ ...payload, touched }), keys.changed, String(usage.length)],
        ...usage.flatMap((event) => [toMember(event.userId), JSON.stringify(event)]),
        keys.audience(''),
      ],
    };
    let done = await commitScript.run(redis, request);
    while (done === UNKNOWN_AUDIENCE) {
      // Its callers must ask for it before a record refers to it.
      const audience = change.record ? audienceOf(change.record) : null;
      if (audience) await audiences.register(audience);
      done = await commitScript.run(redis, request);
    }
    if (done === NOT_WHOLE)
      throw new UnavailableError('a part of the generation that Redis came back without');
    if (done === TOO_MANY_AUDIENCES) throw tooManyChanges();
    if (done === REINDEXED) throw new UnavailableError('the index that these vectors are for');
    return done;
  };

  return {
    read,
    readMany: (ids) => Promise.all(ids.map(read)),
    create: async (record, effects = {}) => {
      const done = await commit(record.id, null, { record, ...effects });
      if (done !== 1) throw new Error('a document with this id exists');
    },
    update: async (id, transition, known) => {
      for (let guess = known; ; guess = undefined) {
        const record = guess ?? (await read(id));
        if (!record) return { record: null, changed: false, discarded: [] };
        const change = transition(record);
        // What was known may be old: only the record as it is can say that there is nothing to do.
        if (!change && guess) continue;
        if (!change) return { record, changed: false, discarded: [] };
        const next = change.removed ? null : { ...change.record, revision: laterRevision(record.revision) };
        const done = await commit(id, record, next ? { ...change, removed: false, record: next } : change);
        if (done === 1) return { record: next, changed: true, discarded: change.discard ?? [] };
      }
    },
  };
}

const tooManyChanges = () =>
  new AppError(429, 'Too many changes of access are still being made', { headers: { 'Retry-After': '2' } });

const isString = (value: string | undefined): value is string => value !== undefined;

/** Without the tags, which may be many and are the index's. */
const FIELDS = Object.keys(documentSchema.shape);

/** Of a record what access and filters look at: less than half of the fields, read in half the time. */
export const MATCHABLE_FIELDS = Object.keys(matchableSchema.shape);

/** Null when there is no such document. */
export const parseMatchable = (values: readonly (string | null)[]): MatchableDocument | null =>
  parseFields(matchableSchema, MATCHABLE_FIELDS, values);

/** Of a record's hash the fields `names`; null when there is no such document. */
function parseFields<Schema extends z.ZodType>(
  schema: Schema,
  names: readonly string[],
  values: readonly (string | null)[],
): z.infer<Schema> | null {
  const fields = names.flatMap((name, i): [string, unknown][] => {
    const value = values[i];
    return value == null ? [] : [[name, parseJson(value)]];
  });
  return fields.length === 0 ? null : schema.parse(Object.fromEntries(fields));
}

const parseJson = (text: string): unknown => JSON.parse(text);

/** The hash of a record: every field as JSON, and `tags`, which an index over records filters by. */
function documentFields(record: DocumentRecord): Record<string, string> {
  return { ...jsonFields(record), tags: documentTags(record) };
}

function jsonFields(record: DocumentRecord): Record<string, string> {
  const fields = Object.entries(record).map(([name, value]): [string, string] => [
    name,
    JSON.stringify(value),
  ]);
  return Object.fromEntries(fields);
}

/** Fields that tags are made of. */
const TAGGED = ['readers', 'writers', 'admins', 'metadata', 'published', 'pending'];

/** What of a record's hash is to be written; its tags, which cost the most, only when they can differ. */
function changedFields(before: DocumentRecord | null, after: DocumentRecord): Record<string, string> {
  if (!before) return documentFields(after);
  const old = jsonFields(before);
  const changed = Object.entries(jsonFields(after)).filter(([name, value]) => old[name] !== value);
  const isTagged = changed.some(([name]) => TAGGED.includes(name));
  return { ...Object.fromEntries(changed), ...(isTagged ? { tags: documentTags(after) } : {}) };
}

/** Access and filter tokens of a document, comma-separated, as its record and its published chunks carry them. */
export function documentTags(document: MatchableDocument & Pick<DocumentRecord, 'ownerId'>): string {
  return [...accessTags(document), ...documentTokens(document)].join(',');
}

/** The audiences that a record's tags, or its chunks' while they are rewritten, may name; null where they stay. */
function audiencesOf(
  before: DocumentRecord | null,
  after: DocumentRecord,
  isTagged: boolean,
): string[] | null {
  if (!isTagged && before?.retag === after.retag) return null;
  const audience = audienceOf(after);
  return audience ? [audience.id] : [];
}

const isFinal = (record: DocumentRecord) => record.status !== 'queued' && record.status !== 'processing';

function commitPayload(id: string, before: DocumentRecord | null, change: Change) {
  const common = {
    id,
    now: String(Date.now()),
    revision: before ? String(before.revision) : '',
    open: change.open ?? '',
    unhide: change.unhide ?? '',
    discard: change.discard ?? [],
    objects: change.discardObjects ?? [],
    referred: change.record?.pending?.storageKey ?? '',
    evenWhenFull: change.evenWhenFull ?? false,
  };
  if (change.removed)
    return { ...common, removed: true, set: [], ingestOf: '', unfinished: false, settled: true };
  const fields = changedFields(before, change.record);
  return {
    ...common,
    removed: false,
    set: Object.entries(fields).flat(),
    audiences: audiencesOf(before, change.record, 'tags' in fields),
    keepsAudiences: change.record.retag > 0,
    // Whose ingest it is, as long as it lasts: counted in the same step, so that the count is always exact.
    ingestOf: isFinal(change.record)
      ? ''
      : toMember(change.record.operation?.userId ?? change.record.ownerId),
    unfinished: !isFinal(change.record) || change.record.retag > 0,
    // What somebody may wait for: the end of an ingest, or of a re-tagging.
    settled: isFinal(change.record) || (before !== null && before.retag > change.record.retag),
  };
}
