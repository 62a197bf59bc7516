import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Redis } from '../../shared/redis/client.js';
import { keys } from '../../shared/redis/keys.js';
import type { Realm } from './realm.js';

const sessionSchema = z.object({
  id: z.string(),
  /** The caller who logged in with a token; null for a browser without a login. */
  callerId: z.string().nullable(),
  expiresAtMs: z.number(),
});
export type Session = z.infer<typeof sessionSchema>;

/** Sessions are stored in signed cookies. Redis only knows sessions that were ended before they expired. */
export interface Sessions {
  create(callerId: string | null, expiresAtMs: number): Session;
  /** Returns the value of the session's cookie. @param secret that of its token; the current one without it */
  seal(session: Session, secret?: string): string;
  /** Resolves with null when we did not seal the value, or when the session has expired or was ended. */
  open(sealed: string | undefined): Promise<Session | null>;
  /** Ends the session for every copy of its cookie. */
  end(session: Session): Promise<void>;
  /** Returns the token that pages of this session send with every write. Other pages cannot know it. */
  csrfToken(session: Session): string;
  isCsrfToken(session: Session, given: string): boolean;
}

export interface SessionOptions {
  /** The pages that they are for: one for others is worth nothing here. */
  readonly realm: Realm['name'];
  /** The current secret, then the previous one while it is being changed. */
  readonly secrets: readonly [string, ...string[]];
  readonly redis: Pick<Redis, 'exists' | 'set'>;
}

export function createSessions({ realm, secrets, redis }: SessionOptions): Sessions {
  const sign = (secret: string, purpose: 'session' | 'csrf', text: string) =>
    createHmac('sha256', secret).update(`quire ${realm} ${purpose}\0${text}`).digest('base64url');
  const isSigned = (purpose: 'session' | 'csrf', text: string, signature: string) =>
    secrets.some((secret) => isSame(sign(secret, purpose, text), signature));
  const [current] = secrets;

  return {
    create: (callerId, expiresAtMs) => ({ id: randomUUID(), callerId, expiresAtMs }),
    seal: (session, secret = current) => {
      const text = Buffer.from(JSON.stringify(session)).toString('base64url');
      return `${text}.${sign(secret, 'session', text)}`;
    },
    open: async (sealed) => {
      const [text = '', signature = ''] = sealed?.split('.') ?? [];
      if (text === '' || !isSigned('session', text, signature)) return null;
      const session = sessionSchema.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
      if (session.expiresAtMs <= Date.now()) return null;
      return (await redis.exists(keys.endedSession(session.id))) === 1 ? null : session;
    },
    end: async ({ id, expiresAtMs }) => {
      const value = Math.max(1, expiresAtMs - Date.now());
      await redis.set(keys.endedSession(id), '1', { expiration: { type: 'PX', value } });
    },
    csrfToken: ({ id }) => sign(current, 'csrf', id),
    isCsrfToken: ({ id }, given) => isSigned('csrf', id, given),
  };
}

function isSame(expected: string, given: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}
