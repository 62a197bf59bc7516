import { createHash, randomUUID } from 'node:crypto';
import { ANSWER } from '../documents/commit/answers.js';
import { ConflictError } from '../errors.js';
import { keys } from '../redis/keys.js';

/**
 * The state of a request with an `Idempotency-Key` while it is under way. A request that takes it over after a crash gets
 * the same id, so that its objects are created under this id or not at all.
 */
export interface Reservation {
  /** The id of the object that the request creates. The ids of a batch's objects are made of it (see `itemIdOf`). */
  readonly id: string;
  /** The Redis key under which the request is remembered. */
  readonly key: string;
  /** Names this run at the request. Another run that takes the request over has another name. */
  readonly run: string;
  /**
   * Returns the fingerprint that the request is compared by. It is known by the time something is created, even if the body
   * is a stream.
   */
  readonly fingerprint: () => string;
  /** True if an earlier run has created something under the id, or under one that is made of it. */
  readonly hasCreated: boolean;
}

/** The time that callers are told to wait while the first request with a key is still under way. */
const RETRY_SECONDS = 2;

/** Another request with the same key is under way, or has taken this one over while this process was held up. */
export class UnderWayError extends ConflictError {
  constructor() {
    super('A request with this Idempotency-Key is still under way', { retryAfterSeconds: RETRY_SECONDS });
  }
}

/**
 * Returns the id of the object that item `index` of a batch creates. It is made of the reserved id, in the format of RFC
 * 9562 for such ids (version 8), so that whoever takes the batch over finds the existing objects. Without a reservation it
 * is a random one.
 */
export function itemIdOf(reservation: Reservation | undefined, index: number): string {
  if (!reservation) return randomUUID();
  const bytes = createHash('sha256')
    .update(`${reservation.id} ${String(index)}`)
    .digest();
  bytes.writeUInt8(0x80 | (bytes.readUInt8(6) & 0x0f), 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  return bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/*
 * The parts of commit scripts that bind a change to the reservation that it is made for: the change is written only by the
 * run that holds the reservation, and in the same step the reservation notes that its id was used. So a request that is
 * repeated after a crash knows whether there is something to answer from.
 */

/** Expects the locals `change` and `reservation`, the key. */
export const CHECK_RESERVATION = `
if change.run and redis.call('HGET', reservation, 'run') ~= change.run then
  return ${String(ANSWER.lostReservation)}
end
`;

export const MARK_RESERVATION = `
if change.run then redis.call('HSET', reservation, 'created', '1', 'fingerprint', change.fingerprint) end
`;

/** Returns the fields of `change` that the two parts above read. A change without a reservation has none of them. */
export const reservationFields = (reservation: Reservation | undefined) => ({
  run: reservation?.run,
  fingerprint: reservation?.fingerprint(),
});

/** Changes without a reservation pass a key that is left alone. */
export const reservationKey = (reservation: Reservation | undefined): string =>
  reservation?.key ?? keys.idempotency('', '');
