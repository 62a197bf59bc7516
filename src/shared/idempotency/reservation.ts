import { ConflictError } from '../errors.js';

/**
 * What a request with an `Idempotency-Key` holds while it is under way. Whoever takes the request over after a crash gets
 * the same id, so that what the request creates is created under this id or not at all.
 */
export interface Reservation {
  /** The id of what the request creates. */
  readonly id: string;
  /** The Redis key of what is remembered of the request. */
  readonly key: string;
  /** Names this run at the request. Another run that takes the request over has another name. */
  readonly run: string;
  /** What the request is compared by. It is known by the time something is created, even if the body is a stream. */
  readonly fingerprint: () => string;
}

/** How long callers are told to wait while the first request with a key is still under way. */
const RETRY_SECONDS = 2;

/** Another request with the same key is under way, or has taken this one over while this process was held up. */
export const underWay = (): ConflictError =>
  new ConflictError('A request with this Idempotency-Key is still under way', {
    retryAfterSeconds: RETRY_SECONDS,
  });
