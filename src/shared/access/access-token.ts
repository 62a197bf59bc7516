import jsonwebtoken from 'jsonwebtoken';
import { isWellFormed } from '../json-values.js';

export const TOKEN_TYPES = ['developer', 'user'] as const;
export type TokenType = (typeof TOKEN_TYPES)[number];
export const PERMISSIONS = ['read', 'write', 'admin'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** Makes an entity id of a name: trimmed, in lower case, with `_` for spaces. Null unless it matches `[a-z0-9._-]{1,64}`. */
export function entityIdOf(name: string): string | null {
  const id = name.trim().toLowerCase().replaceAll(' ', '_');
  return /^[a-z0-9._-]{1,64}$/.test(id) ? id : null;
}

const MAX_CHARACTERS = 256;

/** Tells whether a text can be the id of a caller: 1 to 256 characters of well-formed Unicode. */
export function isCallerId(id: string): boolean {
  if (id === '' || id.length > 2 * MAX_CHARACTERS || !isWellFormed(id)) return false;
  return [...id].length <= MAX_CHARACTERS;
}

export interface TokenClaims {
  readonly entityId: string;
  readonly type: TokenType;
  readonly permissions: readonly Permission[];
  readonly days: number;
}

/** Signs a JWT (HS256) that the API accepts for `days` days from now. */
export function signAccessToken(secret: string, { entityId, type, permissions, days }: TokenClaims): string {
  const claims = { entity_id: entityId, type, permissions };
  return jsonwebtoken.sign(claims, secret, { algorithm: 'HS256', expiresIn: days * 86_400 });
}
