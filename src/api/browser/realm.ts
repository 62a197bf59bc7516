import type { Permission } from '../../shared/access/access-token.js';
import { withoutSlashes } from '../http/origins.js';

/** Pages for browsers below one path, with a sign-in and cookies of their own, which open nothing else. */
export interface Realm {
  readonly name: 'admin' | 'view';
  /** The path at which browsers see them; it differs behind a proxy that adds a prefix. */
  readonly path: string;
  /** The permission that its callers need. */
  readonly permission: Permission;
  /** `lax` where links of other sites lead to its pages. */
  readonly sameSite: 'strict' | 'lax';
  /** The cookie in which scripts of its pages find the token for their writes; null where no page has a script. */
  readonly csrfCookie: string | null;
  readonly title: string;
  /** The words over its form, outside of dev mode and in it. */
  readonly advice: { readonly usual: string; readonly devMode: string };
  /** The page that a sign-in leads to, where the browser came from no other; null for the one that shows the session. */
  readonly home: { readonly path: string; readonly name: string } | null;
}

/** Returns the path at which browsers see the service: empty, or the prefix that a proxy adds. */
export const publicPrefix = (publicUrl: string): string =>
  publicUrl === '' ? '' : withoutSlashes(new URL(publicUrl).pathname);
