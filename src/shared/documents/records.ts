import { createAccessGroups } from '../access/access-groups.js';
import { at } from '../at.js';
import { FIRST_VECTORS, type VectorSet } from '../data-set/stored-vectors.js';
import { laterRevision, stateSchema, type DocumentRecord, type DocumentState } from '../document.js';
import { MalformedRecordError } from '../errors.js';
import { createTurns } from '../fair-scheduling/turns.js';
import type { Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import { declareScript } from '../redis/script.js';
import type { Change, Effects, NewRecord, OnChange, Transition } from './change.js';
import { ANSWER } from './commit/answers.js';
import { commitNew } from './commit/commit-new.js';
import { commitChange, type CommitParts } from './commit/commit.js';
import { publishGroup, type PublishedGroup } from './commit/publish-group.js';
import { NO_QUOTAS, type Quotas } from './counts.js';
import {
  absentIfMalformed,
  GROUP_FIELD,
  readLineDigests,
  readRecord,
  readState,
  refuseMalformed,
  parseRecord,
  RECORD_FIELDS,
  type OnMalformed,
} from './record-fields.js';

export interface Records {
  /** Null when there is no such document. */
  read(id: string): Promise<DocumentRecord | null>;
  /**
   * Reads or changes records in a turn of a caller, a few megabytes at most. A record may have megabytes itself, and all callers
   * share the connection: without turns, whoever asks for many of them would have everybody wait until all have come.
   *
   * @param signal ends the wait for the turn, so that nothing is read for a caller who has left
   */
  inTurn: InTurn;
  /** The group whose job ingests a new document; null for all others. */
  readGroup(id: string): Promise<string | null>;
  /** Reads only the fields that tell whether a document has work left; null when there is no document. */
  readState(id: string): Promise<DocumentState | null>;
  /** The same for many documents, in the order of their ids. */
  readStates(ids: readonly string[]): Promise<(DocumentState | null)[]>;
  /** Returns the documents without any work left, in one command. */
  findFinished(ids: readonly string[]): Promise<string[]>;
  /**
   * Reads the digests of the stream lines, of requests with an `Idempotency-Key`, by which documents were made; null for
   * all others.
   */
  readLineDigests(ids: readonly string[]): Promise<(string | null)[]>;
  /** Reads records in the order of their ids, with null for each that does not exist or cannot be read. */
  readMany(ids: readonly string[]): Promise<(DocumentRecord | null)[]>;
  /** The same for any number of records, in turns of a caller. Few of them are held at once. */
  readEach(ids: readonly string[], callerId: string): AsyncIterable<DocumentRecord | null>;
  /** Reads the first of these, at least one, until they have `enoughBytes`; see `readMany`. */
  readSome(ids: readonly string[], enoughBytes: number): Promise<(DocumentRecord | null)[]>;
  /** The same for a caller: small records are read at once, others in a turn. */
  readSomeFor(
    callerId: string,
    ids: readonly string[],
    options: { readonly enoughBytes: number; readonly signal?: AbortSignal | undefined },
  ): Promise<(DocumentRecord | null)[]>;
  create(record: DocumentRecord, effects?: Effects): Promise<void>;
  /** Resolves with false, and writes nothing, when there is the document already or `other` has changed since it was read. */
  createBeside(record: DocumentRecord, other: DocumentRecord): Promise<boolean>;
  /** The same as `create` for many records in few steps. Resolves with the error of each, or null where it was written. */
  createMany(created: readonly NewRecord[]): Promise<(Error | null)[]>;
  /**
   * Publishes short texts with all their parts, in one step and all of them or none.
   * @returns the places of documents that have changed since they were read; nothing was written if there are any
   */
  publishGroup(group: PublishedGroup): Promise<number[]>;
  /**
   * Applies `transition` atomically, and again to the newer record when another process came first. `known` is a
   * record that was read a moment ago, which saves reading it again.
   */
  update(id: string, transition: Transition, known?: DocumentRecord): Promise<Updated>;
}

export type InTurn = <Result>(
  callerId: string,
  work: () => Promise<Result>,
  signal?: AbortSignal,
) => Promise<Result>;

export interface Updated {
  /** Null when the document does not exist, or not any more. */
  readonly record: DocumentRecord | null;
  /** False when the transition returned null. */
  readonly changed: boolean;
  /** Generations that are to be cleaned away now. */
  readonly discarded: readonly string[];
}

interface RecordsOptions {
  readonly onMalformed?: OnMalformed;
  /** The quotas of owners; documents beyond them are refused, and documents of too many chunks not published. */
  readonly quotas?: Quotas;
  readonly onChange?: OnChange | undefined;
}

/** Reads and changes of records that are under way at once, in all and of one caller. */
const MAX_IN_TURN = 12;
const MAX_PER_CALLER = 8;

export function createRecords(
  redis: Redis,
  vectors: VectorSet = FIRST_VECTORS,
  { onMalformed = refuseMalformed, quotas = NO_QUOTAS, onChange = ignoreChange }: RecordsOptions = {},
): Records {
  const groups = createAccessGroups(redis);
  const { commit, ...written } = tellingChanges({ redis, vectors, groups, quotas }, onChange);
  const read = (id: string) => readRecord(redis, id);
  const turns = createTurns(MAX_IN_TURN, { maxAlone: MAX_PER_CALLER, maxPerCaller: MAX_PER_CALLER });
  const inTurn: InTurn = (by, work, signal) => turns.run(work, { by, signal });
  const readSomeFor: Records['readSomeFor'] = async (by, ids, { enoughBytes, signal }) => {
    const small = await readRecords(redis, ids, { fits: Math.min(FREE_BYTES, enoughBytes), onMalformed });
    if (small.length > 0 || ids.length === 0) return small;
    return inTurn(by, () => readRecords(redis, ids, { enoughBytes, onMalformed }), signal);
  };
  return {
    read,
    inTurn,
    readGroup: (id) => redis.hGet(keys.document(id), GROUP_FIELD),
    readState: (id) => readState(redis, id),
    readStates: (ids) => readStates(redis, ids, onMalformed),
    findFinished: (ids) => findFinished(redis, ids),
    readLineDigests: (ids) => readLineDigests(redis, ids),
    readMany: (ids) => Promise.all(ids.map((id) => read(id).catch(absentIfMalformed(id, onMalformed)))),
    readEach: (ids, by) => readEach(ids, (some) => readSomeFor(by, some, { enoughBytes: READ_BYTES })),
    readSome: (ids, enoughBytes) => readRecords(redis, ids, { enoughBytes, onMalformed }),
    readSomeFor,
    ...written,
    create: async (record, effects = {}) => {
      const done = await commit(record.id, null, { record, ...effects });
      if (done !== ANSWER.written) throw new Error('a document with this id exists');
    },
    createBeside: async (record, beside) =>
      (await commit(record.id, null, { record, beside })) === ANSWER.written,
    update: createUpdate(read, commit),
  };
}

type Commit = (id: string, before: DocumentRecord | null, change: Change) => Promise<number>;

/** Makes the writers of records report each written change. */
function tellingChanges(
  parts: CommitParts,
  onChange: OnChange,
): Pick<Records, 'createMany' | 'publishGroup'> & { readonly commit: Commit } {
  return {
    commit: async (id, before, change) => {
      const done = await commitChange(parts, id, before, change);
      if (done === ANSWER.written) onChange(before, change.record ?? null);
      return done;
    },
    publishGroup: async (group) => {
      const refused = await publishGroup(parts, group);
      if (refused.length === 0) for (const { before, after } of group.documents) onChange(before, after);
      return refused;
    },
    createMany: async (created) => {
      const errors = await commitNew(parts, created);
      for (const [i, { record }] of created.entries()) if (errors[i] === null) onChange(null, record);
      return errors;
    },
  };
}

const createUpdate =
  (read: Records['read'], commit: Commit): Records['update'] =>
  async (id, transition, known) => {
    for (let guess = known; ; guess = undefined) {
      const record = guess ?? (await read(id));
      if (!record) return { record: null, changed: false, discarded: [] };
      const change = transition(record);
      // The known record may be old, and only the present one can say that there is nothing to do.
      if (!change && guess) continue;
      if (!change) return { record, changed: false, discarded: [] };
      const next = change.removed ? null : { ...change.record, revision: laterRevision(record.revision) };
      const done = await commit(id, record, next ? { ...change, removed: false, record: next } : change);
      if (done === ANSWER.written) return { record: next, changed: true, discarded: change.discard ?? [] };
    }
  };

const ignoreChange: OnChange = () => undefined;

/** Records that are read at once, and their bytes. */
const READ_AT_ONCE = 200;
const READ_BYTES = 1024 ** 2;
/** As many bytes are read without a turn. */
export const FREE_BYTES = 256 * 1024;

/** @param readSome reads the first of some records, at least one */
async function* readEach(
  ids: readonly string[],
  readSome: (some: readonly string[]) => Promise<(DocumentRecord | null)[]>,
): AsyncGenerator<DocumentRecord | null> {
  for (let first = 0; first < ids.length;) {
    const read = await readSome(ids.slice(first, first + READ_AT_ONCE));
    first += read.length;
    yield* read;
  }
}

type ReadLimit = { readonly enoughBytes: number } | { readonly fits: number };

/**
 * Reads the first of some records, at least one, and ends after the one with which their fields have `enoughBytes`; or before
 * the one that does not fit. An entry is null where the record does not exist or cannot be read.
 */
async function readRecords(
  redis: Redis,
  ids: readonly string[],
  { onMalformed, ...limit }: ReadLimit & { readonly onMalformed: OnMalformed },
): Promise<(DocumentRecord | null)[]> {
  if (ids.length === 0) return [];
  const [enough, fits] = 'fits' in limit ? [limit.fits, limit.fits] : [limit.enoughBytes, null];
  const rows = await readManyScript.run(redis, {
    keys: { records: ids.map(keys.document) },
    args: { enough, fits, fields: RECORD_FIELDS },
  });
  return rows.map((row, i) => {
    try {
      return parseRecord(row);
    } catch (error) {
      return absentIfMalformed(at(ids, i), onMalformed)(error);
    }
  });
}

const readManyScript = declareScript({
  keys: { records: 'keys' },
  args: { enough: 'number', fits: 'optional', fields: 'list' },
}).lua<(string | null)[][]>(`
local rows, bytes, most = {}, 0, tonumber(fits)
for i, record in ipairs(records) do
  local row = redis.call('HMGET', record, unpack(fields))
  for j = 1, #row do bytes = bytes + #(row[j] or '') end
  if most and bytes > most then break end
  rows[i] = row
  if bytes >= enough then break end
end
return rows`);

/** Documents that one step reads, which takes Redis about half a millisecond. */
const STATES_AT_ONCE = 500;

const readStatesScript = declareScript({ keys: { records: 'keys' }, args: {} }).lua<(string | null)[]>(`
local states = {}
for i, record in ipairs(records) do
  local fields = redis.call('HMGET', record, 'status', 'retag')
  states[i] = fields[1] and '{"status":' .. fields[1] .. ',"retag":' .. (fields[2] or '0') .. '}'
end
return states`);

/** Reads the states of documents, in the order of their ids; null for one that does not exist. */
async function readStates(
  redis: Redis,
  ids: readonly string[],
  onMalformed: OnMalformed,
): Promise<(DocumentState | null)[]> {
  const pages = Array.from({ length: Math.ceil(ids.length / STATES_AT_ONCE) }, (_, page) =>
    readStatesScript.run(redis, {
      keys: { records: ids.slice(page * STATES_AT_ONCE, (page + 1) * STATES_AT_ONCE).map(keys.document) },
      args: {},
    }),
  );
  const texts = (await Promise.all(pages)).flat();
  return ids.map((id, i) => {
    try {
      return parseState(at(texts, i));
    } catch (error) {
      return absentIfMalformed(id, onMalformed)(error);
    }
  });
}

function parseState(text: string | null): DocumentState | null {
  try {
    return text === null ? null : stateSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new MalformedRecordError('the state of a document cannot be read', { cause: error });
  }
}

/** Returns the documents whose ingest has ended, or that do not exist. */
async function findFinished(redis: Redis, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const callers = await redis.hmGet(keys.ingests, [...ids]);
  return ids.filter((_, i) => callers[i] === null);
}
