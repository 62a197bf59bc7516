import { at } from '../at.js';
import { toError } from '../errors.js';
import type { CallOptions } from '../ports.js';
import type { TracePlace } from '../tracing/tracing.js';
import type { PartedEmbeddings } from './embed-in-parts.js';

/** A text and its number of tokens. */
export interface MeasuredText {
  readonly text: string;
  readonly tokens: number;
}

/** The texts of one call, and their vectors so far. */
export interface Call {
  readonly vectors: Float32Array[];
  missing: number;
  /** Null once a reply did not tell its tokens. */
  tokens: number | null;
  /** Tells of each text whether it was embedded in parts. */
  readonly inParts: boolean[];
  isSettled: boolean;
  succeed(): void;
  fail(error: unknown): void;
}

/** The vectors of a call's texts, and for each whether it is the mean of the vectors of parts. */
export type CallEmbeddings = Required<PartedEmbeddings>;

/** One text of a call, and its position there. */
export interface Entry extends MeasuredText {
  readonly call: Call;
  readonly position: number;
  /** The trace for which it is embedded. */
  readonly trace: TracePlace | null;
}

interface CallHooks extends CallOptions {
  readonly begin: (call: Call) => void;
  readonly abandon: () => void;
}

/** Opens a call, which resolves when all its vectors are there, and rejects when it failed or was aborted. */
export function openCall(size: number, { signal, begin, abandon }: CallHooks): Promise<CallEmbeddings> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void) => {
      if (call.isSettled) return;
      call.isSettled = true;
      signal?.removeEventListener('abort', abort);
      finish();
    };
    const call: Call = {
      vectors: [],
      missing: size,
      tokens: 0,
      inParts: [],
      isSettled: false,
      succeed: () => {
        settle(() => {
          resolve({ vectors: call.vectors, tokens: call.tokens, inParts: call.inParts });
        });
      },
      fail: (error) => {
        settle(() => {
          reject(toError(error));
        });
      },
    };
    const abort = () => {
      call.fail(signal?.reason);
      abandon();
    };
    signal?.addEventListener('abort', abort, { once: true });
    begin(call);
  });
}

/** Distributes the vectors of a request to the calls that its texts come from. */
export function deliver(entries: readonly Entry[], { vectors, tokens, inParts }: PartedEmbeddings): void {
  const shares = tokens === null ? null : shareTokens(entries, tokens);
  entries.forEach(({ call, position }, index) => {
    const vector = vectors[index];
    if (!vector) throw new Error('the embedder returned fewer vectors than texts');
    call.vectors[position] = vector;
    call.tokens = call.tokens === null || shares === null ? null : call.tokens + at(shares, index);
    call.inParts[position] = inParts?.[index] === true;
    call.missing -= 1;
    if (call.missing === 0) call.succeed();
  });
}

/** Splits the billed tokens of a request in proportion to the texts' own counts. The shares are whole and add up. */
function shareTokens(entries: readonly Entry[], total: number): number[] {
  const weights = entries.map(({ tokens }) => Math.max(1, tokens));
  const sum = weights.reduce((left, right) => left + right, 0);
  let counted = 0;
  let given = 0;
  return weights.map((weight) => {
    counted += weight;
    const share = Math.round((total * counted) / sum) - given;
    given += share;
    return share;
  });
}
