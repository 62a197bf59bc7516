import type { Principal } from '../../shared/access/access.js';
import type { Precondition } from '../../shared/document.js';
import type { Reservation } from '../../shared/idempotency/reservation.js';
import type { Arrival } from './ingest/admission/admission.js';

/**
 * The caller who requests a change, the start of the request, and the time that they wait. It references nothing of the
 * request's body.
 */
export interface RequestContext {
  /** Whose account it is: their turns, limits and usage count. */
  readonly callerId: string;
  /** Whose rights to documents count. */
  readonly principal: Principal;
  readonly requestId: string;
  readonly startedAtMs: number;
  /** Null when the caller did not state it; the service's default then applies. */
  readonly waitSeconds: number | null;
  /** When the caller's token ends, and with it every wait; absent for a caller without one. */
  readonly expiresAtMs?: number | undefined;
  /** Aborts when the caller goes away. */
  readonly signal: AbortSignal;
  /** Counts the document that is to be written, until it counts by its record; undefined where nothing does. */
  readonly arrival?: Arrival | undefined;
  /** The states in which alone the document may be changed; null where the request does not say. */
  readonly precondition?: Precondition | null;
  /** Undefined for a request without an `Idempotency-Key`. */
  readonly reservation?: Reservation | undefined;
}
