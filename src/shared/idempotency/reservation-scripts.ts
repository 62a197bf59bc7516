import { keys } from '../redis/keys.js';
import type { Reservation } from './reservation.js';

/*
 * The parts of commit scripts that bind a change to the reservation that it is made for: the change is written only by the
 * run that holds the reservation, and in the same step the reservation notes that its id was used. So a request that is
 * repeated after a crash knows whether there is something to answer from.
 */

/** A commit script's answer when another run holds the reservation. */
export const LOST_RESERVATION = -6;

/** Expects the locals `change` and `reservation`, the key. */
export const CHECK_RESERVATION = `
if change.run ~= '' and redis.call('HGET', reservation, 'run') ~= change.run then
  return ${String(LOST_RESERVATION)}
end
`;

export const MARK_RESERVATION = `
if change.run ~= '' then redis.call('HSET', reservation, 'created', '1', 'fingerprint', change.fingerprint) end
`;

/** Returns the fields of `change` that the two parts above read. An empty text stands for a change without a reservation. */
export const reservationFields = (reservation: Reservation | undefined) => ({
  run: reservation?.run ?? '',
  fingerprint: reservation?.fingerprint() ?? '',
});

/** Changes without a reservation pass a key that is left alone. */
export const reservationKey = (reservation: Reservation | undefined): string =>
  reservation?.key ?? keys.idempotency('', '');
