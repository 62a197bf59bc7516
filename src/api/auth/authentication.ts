import { createHash, createSecretKey, hash, timingSafeEqual } from 'node:crypto';
import jsonwebtoken from 'jsonwebtoken';
import { z } from 'zod';
import { principalOf, type Principal } from '../../shared/access/access.js';
import {
  isCallerId,
  PERMISSIONS,
  TOKEN_TYPES,
  type Permission,
  type TokenType,
} from '../../shared/access/access-token.js';
import { dropOldest } from '../../shared/tools/drop-oldest.js';
import { HttpError } from '../http/http-error.js';

export type { Permission } from '../../shared/access/access-token.js';

/** An authenticated caller. */
export interface Caller {
  readonly id: string;
  /** Decides which documents they may read and change. */
  readonly principal: Principal;
  readonly permissions: ReadonlySet<Permission>;
  readonly type: TokenType;
  /** The claim `jti` of the token, if it has one. */
  readonly tokenId?: string | undefined;
  /** When the token ends that names the caller; never for a caller without one. */
  readonly expiresAtMs: number;
}

/** The caller of an open route without a token. No access list contains an empty id. */
export const anonymous: Caller = {
  id: '',
  principal: principalOf(''),
  permissions: new Set(),
  type: 'user',
  expiresAtMs: Infinity,
};

const devUser: Caller = {
  id: 'dev_user',
  principal: principalOf('dev_user'),
  permissions: new Set(PERMISSIONS),
  type: 'developer',
  expiresAtMs: Infinity,
};

interface VerifiedToken<Holder> {
  readonly holder: Holder;
  /** `exp` of the token: seconds since 1970. */
  readonly expiresAt: number;
}

/** Returns the holder of a valid token; null for any other. */
type VerifyToken<Holder> = (token: string) => VerifiedToken<Holder> | null;

const entityId = z.string().refine(isCallerId).nullish();
const claimsSchema = z
  .object({
    entity_id: entityId,
    sub: entityId,
    type: z.enum(TOKEN_TYPES).default('user'),
    permissions: z.array(z.enum(PERMISSIONS)).default(['read']),
    exp: z.number(),
    iat: z.number().optional(),
    // Any other value is no id that could be told.
    jti: z
      .string()
      .regex(/^[\w.:-]{1,128}$/)
      .optional()
      .catch(undefined),
  })
  .transform(({ entity_id, sub, type, permissions, exp, jti }, context): VerifiedToken<Caller> => {
    const id = entity_id ?? sub;
    if (id == null) {
      context.addIssue({ code: 'custom', message: 'entity_id or sub is required' });
      return z.NEVER;
    }
    const tokenId = jti;
    const principal = principalOf(id);
    const granted = withImplied(permissions);
    const holder = { id, principal, type, permissions: granted, expiresAtMs: exp * 1_000, tokenId };
    return { holder, expiresAt: exp };
  });

function withImplied(permissions: readonly Permission[]): ReadonlySet<Permission> {
  return new Set(permissions.includes('admin') ? PERMISSIONS : permissions);
}

/** Returns the caller that an `Authorization` header names; null when it holds no valid token. */
export type Authenticate = (authorization: string | undefined) => Caller | null;

export interface AuthenticationOptions {
  /** The current secret, then the previous one while the secret is being changed. */
  readonly secrets: readonly string[];
  /** Requests without a valid token are from `dev_user`. */
  readonly devMode: boolean;
}

export function createAuthentication({ secrets, devMode }: AuthenticationOptions): Authenticate {
  const keys = secrets.map((secret) => createSecretKey(Buffer.from(secret)));
  const findHolder = rememberTokens((token) => {
    for (const key of keys) {
      const claims = claimsSchema.safeParse(verify(token, key));
      if (claims.success) return claims.data;
    }
    return null;
  });
  return (authorization) => {
    const token = authorization === undefined ? undefined : /^Bearer +([^\s]+) *$/i.exec(authorization)?.[1];
    const caller = token === undefined ? null : (findHolder(token)?.holder ?? null);
    return caller ?? (devMode ? devUser : null);
  };
}

function verify(token: string, key: ReturnType<typeof createSecretKey>): unknown {
  try {
    return jsonwebtoken.verify(token, key, { algorithms: ['HS256'] });
  } catch {
    // Whatever fails, these bytes are not a token of ours.
    return null;
  }
}

const MAX_TOKENS = 1_000;

/**
 * Remembers the most recent valid tokens until they expire, because a client sends the same token with every request and a
 * digest costs a tenth of verifying it. Neither the tokens themselves nor refused ones are kept.
 */
export function rememberTokens<Holder>(verify: VerifyToken<Holder>): VerifyToken<Holder> {
  const recent = new Map<string, VerifiedToken<Holder>>();
  return (token) => {
    const digest = hash('sha256', token, 'base64');
    const known = recent.get(digest);
    // Reinserting the entry keeps the map in order of use: the first one is the least recently used.
    recent.delete(digest);
    const verified = known && Date.now() < known.expiresAt * 1_000 ? known : verify(token);
    if (verified) recent.set(digest, verified);
    dropOldest(recent, MAX_TOKENS);
    return verified;
  };
}

export function notAuthenticated(): HttpError {
  return new HttpError(401, 'Invalid authentication credentials', {
    headers: { 'WWW-Authenticate': 'Bearer' },
  });
}

/** Makes the error that ends a stream which outlives the token that it was asked for with. */
export function tokenEnded(): HttpError {
  return new HttpError(401, 'The token has expired', { headers: { 'WWW-Authenticate': 'Bearer' } });
}

/** @throws HttpError 403 */
export function requirePermission(caller: Caller, permission: Permission): void {
  if (!caller.permissions.has(permission)) throw new HttpError(403, 'Insufficient permissions');
}

/** Compares in constant time, so that the duration reveals nothing. */
export function isSamePassword(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
