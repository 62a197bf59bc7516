import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { z } from 'zod';
import { TooManyError } from '../../../shared/errors.js';
import { UnderWayError, type Reservation } from '../../../shared/idempotency/reservation.js';
import type { Logger } from '../../../shared/observability/logger.js';
import type { Redis } from '../../../shared/redis/client.js';
import { keys } from '../../../shared/redis/keys.js';
import { claimReservation, releaseScript, rememberScript, renewScript } from './claim-script.js';

export interface KeyedRequest {
  readonly callerId: string;
  readonly key: string;
  /** Null while it is not known, because the body is a stream. */
  readonly fingerprint: () => string | null;
}

/** The right of this run to do the work of a request. One of the two functions must end it. Neither throws. */
export interface HeldReservation extends Reservation {
  /**
   * Remembers the answer to the request. An answer that is too large is made again from the objects that the request has
   * created.
   */
  remember(answer: Answer): Promise<void>;
  /** Lets go of the key: it is free again, unless something was created under its id. */
  release(): Promise<void>;
}

/**
 * The claim of a request. `fingerprint` belongs to the first request with the key, where it is known. It has been compared
 * unless the fingerprint of this request is not known yet.
 */
export type Claim =
  /** Another body, or another route. */
  | { readonly type: 'different' }
  | { readonly type: 'answered'; readonly answer: Answer; readonly fingerprint: string | null }
  | {
      readonly type: 'claimed';
      /** The reservation. Where it has created something already, the answer to that is not known. */
      readonly reservation: HeldReservation;
      readonly fingerprint: string | null;
    };

export interface Idempotency {
  /** @throws ConflictError while another run is under way; TooManyError when the caller has no room for another key */
  claim(request: KeyedRequest): Promise<Claim>;
}

export interface IdempotencyParts {
  readonly redis: Redis;
  readonly logger: Logger;
  /** The bytes of Redis, by an estimate, that are remembered of the requests of one caller at most. */
  readonly limitBytes: number;
}

/**
 * Answers a request that is sent again with the same `Idempotency-Key` like the first one, in all processes. The truth is
 * the object that the request creates: it is written in one step with the note that it was created, so that no crash comes
 * between.
 */
export function createIdempotency({ redis, logger, limitBytes }: IdempotencyParts): Idempotency {
  const leases = createLeases(redis, logger);
  return {
    claim: async ({ callerId, key, fingerprint }) => {
      const [run, id] = [randomUUID(), randomUUID()];
      const places = {
        key: keys.idempotency(callerId, key),
        bytes: keys.idempotencyBytes(callerId),
      };
      const limits = {
        lease: LEASE_MILLISECONDS,
        limitBytes,
      };
      const reply = await claimReservation(redis, places, { run, id, fingerprint: fingerprint(), ...limits });
      switch (reply.type) {
        case 'different':
          return reply;
        case 'running':
          throw new UnderWayError();
        case 'full':
          throw tooManyKeys(reply.milliseconds);
        case 'answered':
          return { ...reply, answer: await unpackAnswer(reply.answer) };
        case 'claimed': {
          const held = { run, id: reply.id, hasCreated: reply.hasCreated, fingerprint, ...places };
          const reservation = hold({ redis, logger, leases }, held);
          return {
            type: 'claimed',
            reservation,
            fingerprint: reply.fingerprint,
          };
        }
      }
    },
  };
}

const tooManyKeys = (milliseconds: number) =>
  new TooManyError('Too many of your requests with an Idempotency-Key are remembered', {
    retryAfterSeconds: milliseconds / 1_000,
  });

interface Held extends Pick<Reservation, 'run' | 'id' | 'key' | 'hasCreated'> {
  readonly bytes: string;
  readonly fingerprint: () => string | null;
}

function hold(
  { redis, logger, leases }: { redis: Redis; logger: Logger; leases: Leases },
  { run, id, key, hasCreated, bytes, fingerprint }: Held,
): HeldReservation {
  leases.add(run, key);
  const known = () => {
    const found = fingerprint();
    if (found === null) throw new Error('a request creates something before its body is known');
    return found;
  };
  const hashes = { memory: key, sums: bytes };
  const store = async (packed: Buffer) => {
    await rememberScript.run(redis, { keys: hashes, args: { run, fingerprint: known(), answer: packed } });
  };
  const notRemembered = (error: unknown) => {
    // A repeated request is answered from the created objects.
    logger.warn({ err: error }, 'the answer to an idempotency key is not remembered');
    return null;
  };
  const release = async () => {
    leases.remove(run);
    await releaseScript.run(redis, { keys: hashes, args: { run } }).catch((error: unknown) => {
      // The lease runs out instead.
      logger.warn({ err: error }, 'an idempotency key was not released');
    });
  };
  return {
    run,
    id,
    key,
    hasCreated,
    fingerprint: known,
    release,
    remember: async (answer) => {
      const packed = await packAnswer(answer).catch(notRemembered);
      if (packed === null) return release();
      leases.remove(run);
      await store(packed).catch(notRemembered);
    },
  };
}

/** An answer of JSON as it was sent, without the headers that every answer has. */
const answerSchema = z.object({
  status: z.int(),
  headers: z.record(z.string(), z.string()),
  body: z.unknown(),
});
type Answer = z.infer<typeof answerSchema>;

/** The most bytes of one remembered answer, packed. A small document takes 400, and one of 20,000 chunks 53,000. */
const MAX_PACKED_BYTES = 64 * 1024;
/** Ids of chunks pack well, and nothing that this service answers packs better than by this factor. */
const MAX_BYTES = 100 * MAX_PACKED_BYTES;

const pack = promisify(deflateRaw);
const unpack = promisify(inflateRaw);

/** Null when the answer is too large to be remembered. */
async function packAnswer({ status, headers, body }: Answer): Promise<Buffer | null> {
  const text = JSON.stringify({ status, headers, body });
  if (text.length > MAX_BYTES) return null;
  const packed = await pack(text);
  return packed.length > MAX_PACKED_BYTES ? null : packed;
}

async function unpackAnswer(packed: Buffer): Promise<Answer> {
  const text = await unpack(packed);
  const answer: unknown = JSON.parse(text.toString('utf8'));
  return answerSchema.parse(answer);
}

/** A run whose process has died holds its key for this long. */
const LEASE_MILLISECONDS = 10_000;
const RENEW_MILLISECONDS = LEASE_MILLISECONDS / 4;

/** The runs of this process that are under way. Their leases are renewed until they are removed. */
interface Leases {
  add(run: string, key: string): void;
  remove(run: string): void;
}

function createLeases(redis: Redis, logger: Logger): Leases {
  const held = new Map<string, string>();
  let timer: NodeJS.Timeout | null = null;
  const renewAll = () => {
    for (const [run, key] of held) {
      const call = { keys: { memory: key }, args: { run, lease: LEASE_MILLISECONDS } };
      renewScript.run(redis, call).catch((error: unknown) => {
        // Another run may take over. Objects that this one creates are refused then.
        logger.warn({ err: error }, 'the lease of an idempotency key was not renewed');
      });
    }
  };
  return {
    add: (run, key) => {
      held.set(run, key);
      timer ??= setInterval(renewAll, RENEW_MILLISECONDS).unref();
    },
    remove: (run) => {
      held.delete(run);
      if (held.size > 0 || timer === null) return;
      clearInterval(timer);
      timer = null;
    },
  };
}
