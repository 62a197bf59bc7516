import type { PackedCandidates } from '../../../index/index.js';
import type { Principal } from '../../access/access.js';
import type { ListedPage, ListOrder, ListPosition } from '../../documents/list-order.js';
import type { Filter } from '../../filters/parse.js';
import type { ChunkOfDocument, DataState } from '../../ports.js';

/** A question of the asking thread. */
export type Question =
  | {
      readonly type: 'vectors';
      readonly principal: Principal;
      readonly filter: Filter | null;
      readonly vector: Float32Array;
      readonly limit: number;
    }
  | {
      readonly type: 'words';
      readonly principal: Principal;
      readonly filter: Filter | null;
      readonly query: string;
      readonly minScore: number;
      readonly limit: number;
      readonly enough: number;
      /** True if the asking side compares the state of the answer with the present one. */
      readonly mayBeUnconfirmed: boolean;
    }
  | {
      readonly type: 'similarities';
      readonly principal: Principal;
      readonly vector: Float32Array;
      readonly chunks: readonly ChunkOfDocument[];
    }
  | {
      readonly type: 'word-scores';
      readonly principal: Principal;
      readonly query: string;
      readonly chunks: readonly ChunkOfDocument[];
    }
  | {
      readonly type: 'list';
      readonly principal: Principal;
      readonly filter: Filter | null;
      readonly name: string | null;
      readonly order: ListOrder;
      readonly after: ListPosition | null;
      readonly skip: number;
      readonly limit: number;
    }
  | {
      readonly type: 'count';
      readonly principal: Principal;
      readonly filter: Filter | null;
      readonly name: string | null;
    };
export type Request =
  | {
      readonly id: number;
      readonly question: Question;
      /** True if the caller has waited for the chunks that were missing when the question was first asked. */
      readonly hasWaited: boolean;
    }
  /** This request is answered once none of these chunks are missing any more. */
  | { readonly id: number; readonly missing: readonly number[] }
  | { readonly cancelled: number };

export type Answer =
  | {
      readonly type: 'candidates';
      readonly found: PackedCandidates;
      /** The state that it was computed from; null when Redis was asked meanwhile whether that is all. */
      readonly state: DataState | null;
    }
  /** Chunks that the question may find are still being loaded. It is to be asked again when they are there. */
  | { readonly type: 'missing'; readonly missing: readonly number[] }
  | { readonly type: 'loaded' }
  | { readonly type: 'scores'; readonly scores: Float64Array<ArrayBuffer> }
  | { readonly type: 'list'; readonly page: ListedPage }
  | { readonly type: 'count'; readonly count: number };

/** A message from the mirror's thread to the asking thread. */
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
