import type { Claim, HeldReservation, Idempotency } from '../../services/idempotency/idempotency.js';
import { onStreamEnd } from '../../services/stream-end.js';
import { reply, type ApiReply, type PendingReply } from '../response/reply.js';
import type { ApiRequest, Route } from '../route.js';
import { fingerprintFiles, fingerprintUpload, type Place } from './fingerprint.js';
import { differentRequest } from '../request/headers.js';

/** As Stripe names it; the draft of the IETF has no header for it. */
const REPLAYED = { 'Idempotent-Replayed': 'true' };

export interface KeyedExchange {
  readonly route: Route;
  readonly request: ApiRequest<unknown, unknown, unknown>;
  readonly key: string;
  readonly place: Place;
  /** Null for an upload, whose body was not read yet. */
  readonly fingerprint: string | null;
}

/**
 * Handles a request with an `Idempotency-Key`, unless an earlier one with the same key was answered or has created
 * something: that is answered again. Errors are not remembered.
 * @throws HttpError 422 when the earlier request was another one; ConflictError while it is under way
 */
export async function handleOnce(
  idempotency: Idempotency,
  { route, request, key, place, fingerprint }: KeyedExchange,
): Promise<ApiReply | PendingReply> {
  if (!route.idempotency) throw new Error('the route does not heed idempotency keys');
  const { answerAgain, skipUpload, skipFiles } = route.idempotency;
  const comparison = createComparison(fingerprint);
  const { current } = comparison;
  const claim = await idempotency.claim({ callerId: request.caller.id, key, fingerprint: current });
  if (claim.type === 'different') throw differentRequest();
  const compare = comparison.with(claim);
  const receiveUpload = request.receiveUpload && fingerprintUpload(request.receiveUpload, place, compare);
  const receiveFiles = request.receiveFiles && fingerprintFiles(request.receiveFiles, place, compare);
  const skip = async () => {
    if (receiveUpload) await skipUpload?.(receiveUpload);
    if (receiveFiles) await skipFiles?.(receiveFiles);
  };
  if (claim.type === 'answered') {
    await skip();
    return { type: 'json', ...claim.answer, headers: { ...claim.answer.headers, ...REPLAYED } };
  }
  const { reservation } = claim;
  const context = { ...request.context, reservation };
  const asked = { ...request, receiveUpload, receiveFiles, context };
  const settle = createSettle(reservation, request.signal);
  return settle(async () => {
    if (!reservation.hasCreated) return route.handle(asked, reply);
    if (!answerAgain) return asReplay(await route.handle(asked, reply));
    await skip();
    return asReplay(await answerAgain(asked, reservation.id, reply));
  });
}

/** The fingerprint of a request. It is apart from the request, whose body must not be held as long as this. */
function createComparison(known: string | null) {
  let fingerprint = known;
  return {
    current: () => fingerprint,
    /** Compares an upload, once it was received, with the request that was first. */
    with:
      ({ fingerprint: first }: Exclude<Claim, { type: 'different' }>) =>
      (found: string): void => {
        if (first !== null && first !== found) throw differentRequest();
        fingerprint = found;
      },
  };
}

/** Remembers the answer of an action, and lets go of the key when it fails. */
function createSettle(reservation: HeldReservation, signal: AbortSignal) {
  const remember = async (settled: ApiReply): Promise<ApiReply> => {
    // Lines create something as long as they are sent.
    if (settled.type === 'lines')
      return { ...settled, lines: onStreamEnd(settled.lines, () => reservation.release()) };
    // A client that left has no answer yet. The next request makes one from the created objects.
    if (settled.type !== 'json' || settled.isPassing === true || signal.aborted) await reservation.release();
    else {
      const { status, headers = {}, body } = settled;
      await reservation.remember({ status, headers: { ...headers }, body });
    }
    return settled;
  };
  const giveUp = async (error: unknown): Promise<never> => {
    await reservation.release();
    throw error;
  };
  return async (action: () => Promise<ApiReply | PendingReply>): Promise<ApiReply | PendingReply> => {
    const begun = await action().catch(giveUp);
    if (begun.type !== 'pending') return remember(begun);
    const { type, heldBytes, settled } = begun;
    return { type, heldBytes, settled: settled.then(remember, giveUp) };
  };
}

function asReplay(answer: ApiReply | PendingReply): ApiReply | PendingReply {
  if (answer.type !== 'pending') return { ...answer, headers: { ...answer.headers, ...REPLAYED } };
  const { type, heldBytes, settled } = answer;
  return {
    type,
    heldBytes,
    settled: settled.then((each) => ({ ...each, headers: { ...each.headers, ...REPLAYED } })),
  };
}
