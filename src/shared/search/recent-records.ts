import { hash } from 'node:crypto';
import type { MatchableDocument } from '../document.js';
import { dropOldest } from '../tools/drop-oldest.js';

/** The values of a record's fields, as Redis has them. */
export type Row = readonly (string | null)[];

/** Names exactly these values: their length in UTF-8 and the SHA-1 of them. */
export interface Fingerprint {
  readonly bytes: number;
  readonly sha1: string;
}

interface KnownRecord extends Fingerprint {
  readonly record: MatchableDocument;
}

export interface RecentRecords {
  get(documentId: string): KnownRecord | undefined;
  put(documentId: string, row: Row, record: MatchableDocument): void;
}

const MAX_RECORDS = 4_096;
/** In UTF-16 units. Records with long access lists are not worth their memory: some 30 MB are held at most. */
const MAX_LENGTH = 2 * 1024;

/** Between values, where JSON has no line break of its own. */
const SEPARATOR = '\n';

type Remembered = KnownRecord | { readonly record: MatchableDocument; readonly row: Row };

/**
 * Remembers records that searches have read, parsed, with a fingerprint of what Redis had. If that still has the same, it
 * says so instead of sending it again. A record is answered only while every byte of it is as it was.
 */
export function createRecentRecords(): RecentRecords {
  const records = new Map<string, Remembered>();
  return {
    get: (documentId) => {
      const found = records.get(documentId);
      if (!found || !('row' in found)) return found;
      // Most records are read once, so that the fingerprint is made when it is needed.
      const known = { record: found.record, ...fingerprintOf(found.row) };
      records.set(documentId, known);
      return known;
    },
    put: (documentId, row, record) => {
      records.delete(documentId);
      if (lengthOf(row) > MAX_LENGTH) return;
      records.set(documentId, { record, row });
      dropOldest(records, MAX_RECORDS);
    },
  };
}

const lengthOf = (row: Row): number => row.reduce((sum, value) => sum + (value?.length ?? 0), 0);

function fingerprintOf(row: Row): Fingerprint {
  const text = row.map((value) => value ?? '').join(SEPARATOR);
  return { bytes: Buffer.byteLength(text), sha1: hash('sha1', text) };
}

/** A Lua function that tells whether a row is the one with this fingerprint. It hashes only what is as long. */
export const IS_UNCHANGED = `
local function is_unchanged(row, bytes, sha1)
  local length = #row - 1
  for i = 1, #row do length = length + #(row[i] or '') end
  if length ~= bytes then return false end
  local values = {}
  for i = 1, #row do values[i] = row[i] or '' end
  return redis.sha1hex(table.concat(values, '\\n')) == sha1
end`;
