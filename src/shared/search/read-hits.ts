import {
  guardArgument,
  guardKey,
  IS_SAME_SHARING,
  SharingChangedError,
  type SharingGuard,
} from '../access/sharing.js';
import { at } from '../at.js';
import { unpackWhereabouts, type ChunkAddress, type Whereabouts } from '../chunks/fields.js';
import type { MatchableDocument } from '../document.js';
import {
  absentIfMalformed,
  MATCHABLE_FIELDS,
  parseMatchable,
  refuseMalformed,
  type OnMalformed,
} from '../documents/record-fields.js';
import { FREE_BYTES, type InTurn } from '../documents/records.js';
import type { DataState } from '../ports.js';
import type { Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import { declareScript } from '../redis/script.js';

/**
 * Tells whether the candidates of a search are of the present state of the data. An index need not ask Redis for that
 * before it answers: the step that reads the hits finds it out, without a round trip of its own.
 */
export interface Confirmation {
  /** The function for the index; undefined once candidates were outdated, since the next ones are to be certain. */
  readonly onUnconfirmed: ((state: DataState) => void) | undefined;
  /** The state to compare with the present one; null when nothing is left to be confirmed. */
  readonly state: DataState | null;
  confirm(): void;
  /** Makes the next candidates be certain. */
  giveUp(): void;
}

/** Candidates were found in data that is not the present one, so that others may be missing among them. */
export class OutdatedError extends Error {
  override readonly name = 'OutdatedError';
}

export function createConfirmation(): Confirmation {
  let state: DataState | null = null;
  let note: Confirmation['onUnconfirmed'] = (of) => {
    state = of;
  };
  return {
    get onUnconfirmed() {
      return note;
    },
    get state() {
      return state;
    },
    confirm: () => {
      state = null;
    },
    giveUp: () => {
      state = null;
      note = undefined;
    },
  };
}

/** The keys, and the arguments for `is_present`, of a state. */
export const STATE_KEYS = { epoch: keys.epoch, sequence: keys.sequence } as const;
export const stateArguments = (state: DataState | null) =>
  state
    ? { server: `run_id:${state.server}`, ofEpoch: state.epoch, ofSequence: state.sequence }
    : { server: '', ofEpoch: '', ofSequence: '' };

/**
 * A Lua function that tells whether a state is the present one. The server process is compared, too, because a server that
 * lost its last changes may have seen as many others since.
 */
const IS_PRESENT = `
local function is_present(epoch_key, sequence_key, run_id, epoch, sequence)
  local seen = redis.call('MGET', epoch_key, sequence_key)
  if seen[1] ~= epoch or (seen[2] or '0') ~= sequence then return false end
  local server = redis.pcall('INFO', 'server')
  return type(server) == 'string' and string.find(server, run_id, 1, true) ~= nil
end`;

/** The text of a chunk, and where it stands. */
export interface FoundContent extends Whereabouts {
  readonly text: string;
  /** Only where it was asked for. */
  readonly extent?: ChunkExtent;
}

/** The size of a chunk, and how much of it stands in the chunk before. */
export interface ChunkExtent {
  readonly tokens: number;
  /** In UTF-16 units, from the start of the text. */
  readonly overlap: number;
}

/** The contents and records of hits; an entry is null where the chunk or record does not exist. */
export interface HitContents<Kept> {
  readonly contents: readonly (FoundContent | null)[];
  readonly records: readonly (Kept | null)[];
}

/**
 * Reads the texts of chunks, and then the records of documents as they are at that moment or later. So a text is never
 * returned whose record had already closed or replaced it when the text was read. Only the value that `keep` makes of a
 * record is held: its access lists alone may have 0.75 MB.
 *
 * @param options.confirmation of the state of the data in which the chunks were found
 * @param options.guard of the lists by which they were looked for
 * @throws OutdatedError when that is not the present state, SharingChangedError when the lists are others by now; then it
 *   has read nothing
 */
export type ReadHits = <Kept>(
  chunks: readonly ChunkAddress[],
  documentIds: readonly string[],
  keep: (record: MatchableDocument) => Kept,
  options?: ReadOptions,
) => Promise<HitContents<Kept>>;

interface ReadOptions {
  readonly confirmation?: Pick<Confirmation, 'state' | 'confirm'> | undefined;
  readonly guard?: SharingGuard | null | undefined;
  /** The caller in whose turns they are read, and the signal that ends the wait for one. */
  readonly callerId?: string;
  readonly signal?: AbortSignal | undefined;
  /** True to read the extents of chunks as well. */
  readonly withExtents?: boolean;
}

type Scripts = Pick<Redis, 'eval' | 'evalSha'>;

const atOnce: InTurn = (_callerId, work) => work();

/** @param inTurn see `Records`: a record may have megabytes */
export function createReadHits(
  redis: Scripts,
  onMalformed: OnMalformed = refuseMalformed,
  inTurn: InTurn = atOnce,
): ReadHits {
  return async <Kept>(
    chunks: readonly ChunkAddress[],
    documentIds: readonly string[],
    keep: (record: MatchableDocument) => Kept,
    options: ReadOptions = {},
  ) => {
    const names = [
      ...chunks.map(({ generation, number }) => keys.chunk(generation, number)),
      ...documentIds.map(keys.document),
    ];
    const contents: (FoundContent | null)[] = [];
    const records: (Kept | null)[] = [];
    // A function of its own, so that no reply is held while the next one is waited for.
    const take = ([texts, rows]: Rows) => {
      contents.push(...texts.map(parseContent));
      for (const row of rows) {
        const record = parseRow(row, at(documentIds, records.length), onMalformed);
        records.push(record && keep(record));
      }
    };
    const { callerId = '', signal } = options;
    const left = () => {
      const read = contents.length + records.length;
      return { names: names.slice(read), texts: chunks.length - read, ...options };
    };
    // Nearly all are small, and need no turn.
    take(await readSome(redis, { ...left(), fits: FREE_BYTES }));
    while (left().names.length > 0) {
      const wanted = left();
      take(await inTurn(callerId, () => readSome(redis, wanted), signal));
    }
    return { contents, records };
  };
}

interface Wanted extends ReadOptions {
  readonly names: readonly string[];
  /** The number of names of texts, which come first; the others are names of records. */
  readonly texts: number;
  /** The most bytes of the reply, which ends before what does not fit. Without it, it has at least one of them. */
  readonly fits?: number;
}

/** Reads the first of them, as many as a reply may hold. */
async function readSome(
  redis: Scripts,
  { names, texts, fits, confirmation, guard = null, withExtents = false }: Wanted,
): Promise<Rows> {
  const textsLeft = Math.max(0, texts);
  const reply = await script.run(redis, {
    keys: {
      ...STATE_KEYS,
      sharing: guardKey(guard),
      texts: names.slice(0, textsLeft),
      records: names.slice(textsLeft),
    },
    args: {
      ofSharing: guardArgument(guard),
      fits: fits ?? null,
      extents: withExtents ? '1' : null,
      ...stateArguments(confirmation?.state ?? null),
    },
  });
  if (reply === OUTDATED) throw new OutdatedError();
  if (reply === OTHER_SHARING) throw new SharingChangedError();
  confirmation?.confirm();
  guard?.confirm();
  return reply;
}

function parseRow(row: Value[], documentId: string, onMalformed: OnMalformed): MatchableDocument | null {
  try {
    return parseMatchable(row);
  } catch (error) {
    return absentIfMalformed(documentId, onMalformed)(error);
  }
}

type Value = string | null;
type ContentRow = readonly [text: Value, where: Value, tokens?: Value, overlap?: Value];

function parseContent([text, where, tokens, overlap]: ContentRow): FoundContent | null {
  if (text === null) return null;
  const found = { text, ...unpackWhereabouts(where) };
  if (tokens === undefined) return found;
  return { ...found, extent: { tokens: Number(tokens), overlap: Number(overlap) } };
}

/** The reply when the state that was to be confirmed is not the present one. */
const OUTDATED = 0;
/** The reply when the lists of the caller are others than the lists of the search. */
const OTHER_SHARING = -1;
type Rows = [contents: ContentRow[], records: Value[][]];

/**
 * Reads everything with one command, since each command costs the client more than the
 * server. A reply ends after the key with which it has become so large that Redis was held up
 * for some milliseconds; the client then asks for the rest.
 */
const ENOUGH_BYTES = 2 ** 21;
const FIELDS = MATCHABLE_FIELDS.map((name) => `'${name}'`).join(', ');

const script = declareScript({
  keys: { epoch: 'key', sequence: 'key', sharing: 'key', texts: 'keys', records: 'keys' },
  args: {
    ofSharing: 'text',
    fits: 'optional',
    extents: 'optional',
    server: 'text',
    ofEpoch: 'text',
    ofSequence: 'text',
  },
}).frequentLua<Rows | typeof OUTDATED | typeof OTHER_SHARING>(`${IS_PRESENT}
${IS_SAME_SHARING}
if server ~= '' and not is_present(epoch, sequence, server, ofEpoch, ofSequence) then return ${String(OUTDATED)} end
if not is_same_sharing(sharing, ofSharing) then return ${String(OTHER_SHARING)} end
local contents, rows, bytes, most = {}, {}, 0, tonumber(fits)
local function add(row, to)
  for i = 1, #row do bytes = bytes + #(row[i] or '') end
  if most and bytes > most then return most end
  to[#to + 1] = row
  return bytes >= ${String(ENOUGH_BYTES)}
end
local fields = { 'content', 'where' }
if extents ~= '' then fields = { 'content', 'where', 'tokens', 'overlap' } end
for _, text in ipairs(texts) do
  if add(redis.call('HMGET', text, unpack(fields)), contents) then return { contents, rows } end
end
for _, record in ipairs(records) do
  if add(redis.call('HMGET', record, ${FIELDS}), rows) then break end
end
return { contents, rows }`);
