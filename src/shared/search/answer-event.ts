import { at } from '../at.js';
import { MATCHABLE_FIELDS } from '../documents/record-fields.js';
import type { MatchableDocument } from '../document.js';
import type { Candidate } from '../ports.js';
import { keys, toMember } from '../redis/keys.js';
import type { UsageEvent } from '../usage/usage.js';

/** The usage event of an answer, which is appended in the step that reads its hits where nothing keeps these from being it. */
export interface AnswerEvent {
  /** The hits may take this much memory. With larger ones the event is left to the caller. */
  readonly maxBytes: number;
  /** Whether it is certainly not appended yet. */
  readonly isOpen: boolean;
  /** Called when the event is sent. It is not open from then on. */
  make(): UsageEvent;
  /** Called when Redis has answered. */
  settle(isAppended: boolean): void;
}

/** What hits must be like for the event of their answer to be appended: that of records which were read before is known. */
export interface AnswerTerms {
  readonly event: AnswerEvent;
  readonly callerId: string;
  /** Whether a record decides by more than its access lists. Then Redis cannot tell of one that it sends anew. */
  readonly isFiltered: boolean;
  readonly mayBeFound: (record: MatchableDocument) => boolean;
  readonly documents: readonly ExpectedDocument[];
}

interface ExpectedDocument {
  readonly documentId: string;
  readonly generation: string;
  readonly hits: number;
}

/** The documents of candidates, in the order in which they are first named; null when one is named with two generations. */
export function expectedDocuments(candidates: readonly Candidate[]): ExpectedDocument[] | null {
  const documents = new Map<string, { documentId: string; generation: string; hits: number }>();
  for (const { documentId, generation } of candidates) {
    const known = documents.get(documentId);
    if (known && known.generation !== generation) return null;
    if (known) known.hits += 1;
    else documents.set(documentId, { documentId, generation, hits: 1 });
  }
  return [...documents.values()];
}

/** The keys and arguments that the script gets of an answer. */
export interface ScriptPart {
  readonly keys: readonly string[];
  /** The first of them are those of the answer, then there are two for each record. */
  readonly common: readonly string[];
  readonly ofRecords: readonly (readonly [needle: string, hits: string])[];
}

/** Null when the hits cannot be what the answer consists of, as far as is known already. */
export function scriptPart(
  { event, callerId, isFiltered, mayBeFound, documents }: AnswerTerms,
  known: readonly (MatchableDocument | undefined)[],
): ScriptPart | null {
  const isExpected = (record: MatchableDocument | undefined, { generation }: ExpectedDocument) =>
    !record || (record.published?.generation === generation && mayBeFound(record));
  if (!documents.every((each, i) => isExpected(known[i], each))) return null;
  const caller = isFiltered ? null : unmistakable(callerId);
  if (caller === null && known.includes(undefined)) return null;
  const made = event.make();
  return {
    keys: [keys.usagePending(made.userId), keys.usageDirty],
    common: [JSON.stringify(made), toMember(made.userId), String(event.maxBytes), caller ?? ''],
    ofRecords: documents.map(({ generation, hits }) => [
      caller === null ? '' : `"generation":${JSON.stringify(generation)}`,
      String(hits),
    ]),
  };
}

/** What the script gets where no event is to be appended. */
export const NO_EVENT: ScriptPart = { keys: [], common: ['', '', '0', ''], ofRecords: [] };
const NO_NEEDLE = ['', '0'] as const;

/**
 * How a list in JSON names a caller; null for a name that the text of a list could hold elsewhere. Between quotes there is a
 * name or a comma, as long as no name has a quote or an escape.
 */
function unmistakable(callerId: string): string | null {
  const text = JSON.stringify(callerId);
  return text === `"${callerId}"` && callerId !== ',' ? text : null;
}

/** Counts for the memory of a hit beside its text and metadata. */
const HIT_BYTES = 1_100;
/** A byte of metadata takes so many bytes of memory at most: lists of one list take 50 for two. */
const BYTES_A_METADATA_BYTE = 26;
/** The place of a field within a row, in Lua. */
const place = (name: string): string => String(MATCHABLE_FIELDS.indexOf(name) + 1);

/**
 * A Lua function that tells whether a record, as Redis has it, serves this generation to this caller: by the text of its
 * fields, which is JSON. Whoever serves the answer decides by the parsed record, with the same result.
 */
export const SERVES = `
local function serves(row, needle, caller)
  local published = row[${place('published')}]
  if needle == '' or not published or not string.find(published, needle, 1, true) then return false end
  for _, list in ipairs({ ${['readers', 'writers', 'admins'].map(place).join(', ')} }) do
    if row[list] and string.find(row[list], caller, 1, true) then return true end
  end
  return false
end
local function size_of_texts(content)
  return ${String(HIT_BYTES)} + 2 * #content
end
local function size_of_metadata(row, hits)
  return hits * ${String(BYTES_A_METADATA_BYTE)} * #(row[${place('metadata')}] or '')
end`;

/** The arguments of a record from a place on. */
export function recordArguments({ ofRecords }: ScriptPart, record: number): readonly [string, string] {
  return ofRecords.length === 0 ? NO_NEEDLE : at(ofRecords, record);
}
