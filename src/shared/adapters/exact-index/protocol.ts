import type { Filter } from '../../filters.js';
import type { Candidate } from '../../ports.js';
import type { FoundChunk } from './mirror.js';

/** What the asking thread sends. */
export type Question =
  | {
      readonly type: 'search';
      readonly callerId: string;
      readonly filter: Filter | null;
      readonly vector: Float32Array;
      readonly limit: number;
    }
  | {
      readonly type: 'list';
      readonly callerId: string;
      readonly filter: Filter | null;
      readonly skip: number;
      readonly limit: number;
    }
  | { readonly type: 'count'; readonly callerId: string; readonly filter: Filter | null };
export type Request = { readonly id: number; readonly question: Question } | { readonly cancelled: number };

export type Answer =
  | { readonly type: 'search'; readonly found: PackedCandidates }
  | { readonly type: 'list'; readonly documentIds: readonly string[] }
  | { readonly type: 'count'; readonly count: number };

/** What the mirror's thread sends. */
export type Message =
  | { readonly type: 'answer'; readonly id: number; readonly answer: Answer }
  | {
      readonly type: 'failure';
      readonly id: number;
      readonly isUnavailable: boolean;
      readonly reason: string;
    }
  | { readonly type: 'state'; readonly state: 'loading' | 'ready' }
  | {
      readonly type: 'problem';
      readonly message: string;
      readonly fields: Readonly<Record<string, unknown>>;
    };

/** Candidates as one buffer, which changes threads without a copy: fields of 4 bytes first, then all terms. */
export interface PackedCandidates {
  readonly count: number;
  /** Document and generation, a line each: one string crosses threads in less time than hundreds of objects. */
  readonly sources: string;
  readonly buffer: ArrayBuffer;
}

/** Index into `sources`, chunk number, end of the terms; similarity. */
const FIELDS = 4;

export function packCandidates(found: readonly FoundChunk[]): PackedCandidates {
  const header = found.length * FIELDS * 4;
  const buffer = new ArrayBuffer(found.reduce((size, { terms }) => size + terms.byteLength, header));
  const numbers = new Uint32Array(buffer, 0, found.length * FIELDS);
  const similarities = new Float32Array(buffer, 0, found.length * FIELDS);
  const bytes = new Uint8Array(buffer);
  const sources: string[] = [];
  const known = new Map<string, number>();
  let end = header;
  let at = 0;
  for (const { documentId, generation, number, similarity, terms } of found) {
    const source = known.get(documentId) ?? sources.push(`${documentId} ${generation}`) - 1;
    known.set(documentId, source);
    bytes.set(terms, end);
    end += terms.byteLength;
    numbers[at] = source;
    numbers[at + 1] = number;
    numbers[at + 2] = end;
    similarities[at + 3] = similarity;
    at += FIELDS;
  }
  return { count: found.length, sources: sources.join('\n'), buffer };
}

export function unpackCandidates({ count, sources, buffer }: PackedCandidates): Candidate[] {
  const numbers = new Uint32Array(buffer, 0, count * FIELDS);
  const similarities = new Float32Array(buffer, 0, count * FIELDS);
  const lines = sources.split('\n').map((line) => line.split(' '));
  const candidates: Candidate[] = [];
  let start = count * FIELDS * 4;
  // A plain loop and plain literals: for hundreds of candidates, `Array.from` and spreading cost a millisecond.
  for (let at = 0; at < count * FIELDS; at += FIELDS) {
    const [documentId, generation] = lines[numbers[at] ?? 0] ?? [];
    if (documentId === undefined || generation === undefined) throw new RangeError('malformed candidates');
    const number = numbers[at + 1] ?? 0;
    const similarity = similarities[at + 3] ?? 0;
    const end = numbers[at + 2] ?? start;
    const terms = new Uint8Array(buffer, start, end - start);
    candidates.push({ documentId, generation, number, similarity, terms });
    start = end;
  }
  return candidates;
}
