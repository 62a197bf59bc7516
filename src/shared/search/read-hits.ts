import { at } from '../at.js';
import type { ChunkAddress } from '../chunks/fields.js';
import type { MatchableDocument } from '../document.js';
import {
  absentIfMalformed,
  MATCHABLE_FIELDS,
  parseMatchable,
  refuseMalformed,
  type OnMalformed,
} from '../documents/record-fields.js';
import { defineScript, type Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import {
  createRecentRecords,
  IS_UNCHANGED,
  type Fingerprint,
  type RecentRecords,
  type Row,
} from './recent-records.js';

/** What hits are made of; an entry is null where the chunk or record does not exist. */
export interface FoundHits<Kept> {
  readonly contents: readonly (string | null)[];
  readonly records: readonly (Kept | null)[];
}

/**
 * Reads the texts of chunks, and then the records of documents as they are at that moment or later. So a text is never
 * returned whose record had already closed or replaced it when the text was read.
 * Only what `keep` makes of a record is held: its access lists alone may have 0.75 MB.
 */
export type ReadHits = <Kept>(
  chunks: readonly ChunkAddress[],
  documentIds: readonly string[],
  keep: (record: MatchableDocument) => Kept,
) => Promise<FoundHits<Kept>>;

export function createReadHits(
  redis: Pick<Redis, 'eval'>,
  onMalformed: OnMalformed = refuseMalformed,
): ReadHits {
  const recent = createRecentRecords();
  return async <Kept>(
    chunks: readonly ChunkAddress[],
    documentIds: readonly string[],
    keep: (record: MatchableDocument) => Kept,
  ) => {
    const names = [
      ...chunks.map(({ generation, number }) => keys.chunk(generation, number)),
      ...documentIds.map(keys.document),
    ];
    // They are held until Redis has said whether they are unchanged.
    const known = documentIds.map((id) => recent.get(id));
    const contents: Value[] = [];
    const records: (Kept | null)[] = [];
    for (let read = 0; read < names.length; read = contents.length + records.length) {
      const left = Math.max(0, chunks.length - read);
      const expected = known.slice(records.length).flatMap(argumentsOf);
      const call = { keys: names.slice(read), arguments: [String(left), ...scriptArguments, ...expected] };
      // A function of its own, so that no reply is held while the next one is waited for.
      const take = ([texts, rows]: Reply) => {
        contents.push(...texts);
        for (const row of rows) {
          const place = records.length;
          const record =
            row === UNCHANGED
              ? (known[place]?.record ?? null)
              : parse(row, at(documentIds, place), { recent, onMalformed });
          records.push(record && keep(record));
        }
      };
      take(await script.run(redis, call));
    }
    return { contents, records };
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
/** Stands for a row with the fingerprint that was sent for it. */
const UNCHANGED = 1;
type Reply = [contents: Value[], records: (Value[] | typeof UNCHANGED)[]];

const argumentsOf = (known: Fingerprint | undefined): string[] =>
  known ? [String(known.bytes), known.sha1] : ['', ''];

/**
 * Reads everything with one command, since each command costs the client more than the
 * server. A reply ends after the key with which it has become so large that Redis was held up
 * for some milliseconds; the client then asks for the rest.
 */
const ENOUGH_BYTES = 2 ** 21;
const FIELDS = MATCHABLE_FIELDS.length;
const scriptArguments = [String(ENOUGH_BYTES), ...MATCHABLE_FIELDS];

/** Arguments: the number of texts, the bytes that are enough, the fields, and two of the fingerprint of each record. */
const script = defineScript<Reply>(`${IS_UNCHANGED}
local contents, records, bytes = {}, {}, 0
local texts, enough = tonumber(ARGV[1]), tonumber(ARGV[2])
for i, key in ipairs(KEYS) do
  if i <= texts then
    local content = redis.call('HGET', key, 'content')
    contents[#contents + 1] = content
    bytes = bytes + #(content or '')
  else
    local row = redis.call('HMGET', key, unpack(ARGV, 3, ${String(2 + FIELDS)}))
    local at = ${String(1 + FIELDS)} + 2 * (i - texts)
    if ARGV[at] ~= '' and is_unchanged(row, tonumber(ARGV[at]), ARGV[at + 1]) then
      row = ${String(UNCHANGED)}
    else
      for j = 1, #row do bytes = bytes + #(row[j] or '') end
    end
    records[#records + 1] = row
  end
  if bytes >= enough then break end
end
return { contents, records }`);
