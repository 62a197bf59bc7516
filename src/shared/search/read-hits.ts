import {
  guardArgument,
  guardKey,
  IS_SAME_SHARING,
  SharingChangedError,
  type SharingGuard,
} from '../access/sharing-guard.js';
import { at } from '../at.js';
import type { ChunkAddress } from '../chunks/fields.js';
import { unpackWhereabouts, type Whereabouts } from '../chunks/whereabouts.js';
import type { MatchableDocument } from '../document.js';
import {
  absentIfMalformed,
  MATCHABLE_FIELDS,
  parseMatchable,
  refuseMalformed,
  type OnMalformed,
} from '../documents/record-fields.js';
import type { DataState } from '../ports.js';
import { defineFrequentScript, type Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import { APPEND_EVENT } from '../usage/usage.js';
import {
  NO_EVENT,
  recordArguments,
  scriptPart,
  SERVES,
  type AnswerTerms,
  type ScriptPart,
} from './answer-event.js';
import { IS_PRESENT, OutdatedError, STATE_KEYS, stateArguments, type Confirmation } from './confirmation.js';
import {
  createRecentRecords,
  IS_UNCHANGED,
  type Fingerprint,
  type RecentRecords,
  type Row,
} from './recent-records.js';

/** The text of a chunk, and where it stands. */
export interface FoundContent extends Whereabouts {
  readonly text: string;
}

/** What hits are made of; an entry is null where the chunk or record does not exist. */
export interface FoundHits<Kept> {
  readonly contents: readonly (FoundContent | null)[];
  readonly records: readonly (Kept | null)[];
}

/**
 * Reads the texts of chunks, and then the records of documents as they are at that moment or later. So a text is never
 * returned whose record had already closed or replaced it when the text was read.
 * Only what `keep` makes of a record is held: its access lists alone may have 0.75 MB.
 *
 * @param options.answer appends the event of an answer in the same step, if the chunks are there and can be that answer; its
 *   documents are those of `documentIds`
 * @param options.confirmation of what the chunks were found in
 * @param options.guard of the lists by which they were looked for
 * @throws OutdatedError when that is not the present data, SharingChangedError when the lists are others by now; then it has read
 *   nothing and appended no event
 */
export type ReadHits = <Kept>(
  chunks: readonly ChunkAddress[],
  documentIds: readonly string[],
  keep: (record: MatchableDocument) => Kept,
  options?: ReadOptions,
) => Promise<FoundHits<Kept>>;

interface ReadOptions {
  readonly answer?: AnswerTerms | null;
  readonly confirmation?: Pick<Confirmation, 'state' | 'confirm'> | undefined;
  readonly guard?: SharingGuard | null | undefined;
}

export function createReadHits(
  redis: Pick<Redis, 'eval' | 'evalSha'>,
  onMalformed: OnMalformed = refuseMalformed,
): ReadHits {
  const parts = { redis, onMalformed, recent: createRecentRecords() };
  return (chunks, documentIds, keep, options = {}) =>
    readAll(parts, { chunks, documentIds, keep, ...options });
}

interface Parts extends ParseOptions {
  readonly redis: Pick<Redis, 'eval' | 'evalSha'>;
}

interface Wanted<Kept> extends ReadOptions {
  readonly chunks: readonly ChunkAddress[];
  readonly documentIds: readonly string[];
  readonly keep: (record: MatchableDocument) => Kept;
}

async function readAll<Kept>(
  parts: Parts,
  { chunks, documentIds, keep, answer = null, confirmation, guard = null }: Wanted<Kept>,
): Promise<FoundHits<Kept>> {
  const names = [
    ...chunks.map(({ generation, number }) => keys.chunk(generation, number)),
    ...documentIds.map(keys.document),
  ];
  // They are held until Redis has said whether they are unchanged.
  const known = documentIds.map((id) => parts.recent.get(id));
  const contents: (FoundContent | null)[] = [];
  const records: (Kept | null)[] = [];
  const ofAnswer = answer && scriptPart(answer, recordsOf(known));
  // A function of its own, so that no reply is held while the next one is waited for.
  const take = (reply: Reply, part: ScriptPart) => {
    const isRead = reply !== OUTDATED && reply !== OTHER_SHARING;
    if (part === ofAnswer) answer?.event.settle(isRead && reply[2] === 1);
    if (!isRead) throw reply === OUTDATED ? new OutdatedError() : new SharingChangedError();
    confirmation?.confirm();
    guard?.confirm();
    const [texts, rows] = reply;
    contents.push(...texts.map(parseContent));
    for (const row of rows) {
      const place = records.length;
      const record =
        row === UNCHANGED ? (known[place]?.record ?? null) : parse(row, at(documentIds, place), parts);
      records.push(record && keep(record));
    }
  };
  for (let read = 0; read < names.length; read = contents.length + records.length) {
    // What does not come with one reply is too large for an answer whose event goes along.
    const part = (read === 0 ? ofAnswer : null) ?? NO_EVENT;
    const state = confirmation?.state ?? null;
    const left = { texts: Math.max(0, chunks.length - read), known: known.slice(records.length) };
    const call = callOf({ names: names.slice(read), part, state, guard, ...left });
    take(await script.run(parts.redis, call), part);
  }
  return { contents, records };
}

interface Left {
  readonly names: readonly string[];
  /** So many of the names are those of texts, and the others those of records. */
  readonly texts: number;
  /** What is known of each of the records. */
  readonly known: readonly (Fingerprint | undefined)[];
  readonly part: ScriptPart;
  /** What is to be confirmed. */
  readonly state: DataState | null;
  readonly guard: SharingGuard | null;
}

function callOf({ names, texts, known, part, state, guard }: Left) {
  const ofRecords = known.flatMap((each, i) => [...argumentsOf(each), ...recordArguments(part, i)]);
  const sizes = [String(texts), String(names.length), String(ENOUGH_BYTES)];
  return {
    keys: [...names, ...STATE_KEYS, guardKey(guard), ...part.keys],
    arguments: [
      ...sizes,
      ...part.common,
      ...stateArguments(state),
      guardArgument(guard),
      ...MATCHABLE_FIELDS,
      ...ofRecords,
    ],
  };
}

interface ParseOptions {
  readonly recent: RecentRecords;
  readonly onMalformed: OnMalformed;
}

function parse(
  row: Row,
  documentId: string,
  { recent, onMalformed }: ParseOptions,
): MatchableDocument | null {
  try {
    const record = parseMatchable(row);
    if (record) recent.put(documentId, row, record);
    return record;
  } catch (error) {
    return absentIfMalformed(documentId, onMalformed)(error);
  }
}

type Value = string | null;
type ContentRow = readonly [text: Value, where: Value];

const parseContent = ([text, where]: ContentRow): FoundContent | null =>
  text === null ? null : { text, ...unpackWhereabouts(where) };
/** Stands for a row with the fingerprint that was sent for it. */
const UNCHANGED = 1;
/** Replies when what was to be confirmed is not the present state. */
const OUTDATED = 0;
/** Replies when the lists of the caller are others than those of the search. */
const OTHER_SHARING = -1;
type Reply =
  | [contents: ContentRow[], records: (Value[] | typeof UNCHANGED)[], isAppended: 0 | 1]
  | typeof OUTDATED
  | typeof OTHER_SHARING;

const recordsOf = (
  known: readonly ({ readonly record: MatchableDocument } | undefined)[],
): (MatchableDocument | undefined)[] => known.map((each) => each?.record);

const argumentsOf = (known: Fingerprint | undefined): string[] =>
  known ? [String(known.bytes), known.sha1] : ['', ''];

/**
 * Reads everything with one command, since each command costs the client more than the
 * server. A reply ends after the key with which it has become so large that Redis was held up
 * for some milliseconds; the client then asks for the rest.
 */
const ENOUGH_BYTES = 2 ** 21;
const FIELDS = MATCHABLE_FIELDS.length;
/** Where the fields begin among the arguments, and how many arguments there are for each record. */
const FIRST_FIELD = 12;
const A_RECORD = 4;

/**
 * Arguments: the numbers of texts and of hashes, the bytes that are enough; event, member, memory and caller of an answer;
 * the state to be confirmed; the state of the lists; the fields; and of each record its fingerprint, the text that names its generation, and how many of the texts are its.
 */
const script = defineFrequentScript<Reply>(`${IS_PRESENT}
${IS_SAME_SHARING}
${IS_UNCHANGED}
${SERVES}
${APPEND_EVENT}
local contents, records, bytes = {}, {}, 0
local texts, names, enough = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
if ARGV[8] ~= '' and not is_present(KEYS[names + 1], KEYS[names + 2], ARGV[8], ARGV[9], ARGV[10]) then
  return ${String(OUTDATED)}
end
if not is_same_sharing(KEYS[names + 3], ARGV[11]) then return ${String(OTHER_SHARING)} end
local is_answer, room = ARGV[4] ~= '', tonumber(ARGV[6])
for i = 1, names do
  local key = KEYS[i]
  if i <= texts then
    local fields = redis.call('HMGET', key, 'content', 'where')
    local content = fields[1]
    contents[#contents + 1] = fields
    bytes = bytes + #(content or '') + #(fields[2] or '')
    if content then room = room - size_of_texts(content) else is_answer = false end
  else
    local row = redis.call('HMGET', key, unpack(ARGV, ${String(FIRST_FIELD)}, ${String(FIRST_FIELD + FIELDS - 1)}))
    local at = ${String(FIRST_FIELD + FIELDS - A_RECORD)} + ${String(A_RECORD)} * (i - texts)
    local unchanged = ARGV[at] ~= '' and is_unchanged(row, tonumber(ARGV[at]), ARGV[at + 1])
    if is_answer then
      is_answer = unchanged or serves(row, ARGV[at + 2], ARGV[7])
      room = room - size_of_metadata(row, tonumber(ARGV[at + 3]))
    end
    if unchanged then
      row = ${String(UNCHANGED)}
    else
      for j = 1, #row do bytes = bytes + #(row[j] or '') end
    end
    records[#records + 1] = row
  end
  if bytes >= enough and i < names then
    is_answer = false
    break
  end
end
if not is_answer or room < 0 then return { contents, records, 0 } end
append_event(KEYS[names + 4], KEYS[names + 5], ARGV[4], ARGV[5])
return { contents, records, 1 }`);
