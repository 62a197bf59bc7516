import { hash } from 'node:crypto';
import { dropOldest } from '../../shared/tools/drop-oldest.js';

export interface VerifiedToken<Holder> {
  readonly holder: Holder;
  /** `exp` of the token: seconds since 1970. */
  readonly expiresAt: number;
}

/** Returns the holder of a valid token; null for any other. */
export type VerifyToken<Holder> = (token: string) => VerifiedToken<Holder> | null;

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
