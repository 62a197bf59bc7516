import { hash } from 'node:crypto';

export interface VerifiedToken<Holder> {
  readonly holder: Holder;
  /** `exp` of the token: seconds since 1970. */
  readonly expiresAt: number;
}

/** Whom a token names; null when it names nobody that we know. */
export type VerifyToken<Holder> = (token: string) => VerifiedToken<Holder> | null;

const MAX_TOKENS = 1_000;

/**
 * Remembers the last tokens that were found good until they expire: a client sends the same one with every request, and
 * its digest costs a tenth of verifying it. Neither tokens themselves nor those that were refused are kept.
 */
export function rememberTokens<Holder>(verify: VerifyToken<Holder>): VerifyToken<Holder> {
  const recent = new Map<string, VerifiedToken<Holder>>();
  return (token) => {
    const digest = hash('sha256', token, 'base64');
    const known = recent.get(digest);
    // Out and in again: the oldest entry is the one that was not used for longest.
    recent.delete(digest);
    const verified = known && Date.now() < known.expiresAt * 1_000 ? known : verify(token);
    if (verified) recent.set(digest, verified);
    if (recent.size > MAX_TOKENS) recent.delete(recent.keys().next().value ?? '');
    return verified;
  };
}
