/** A Unix socket on which a Redis listens, and how to log in there. */
interface RedisSocket {
  readonly path: string;
  readonly username?: string;
  readonly password?: string;
  readonly db?: number;
}

/** As node-redis reads it: `unix://[user[:password]@]/path/of/socket[?db=n]`. */
const SOCKET_URL = /^unix:\/\/(?:([^:@/]*)(?::([^@/]*))?@)?(\/[^?#]*)(?:\?db=(\d{1,5}))?$/;

/**
 * Returns the socket that a `unix://` address names, in the words of ioredis, which knows no such address; null for any
 * other address.
 */
export function parseSocketUrl(url: string): RedisSocket | null {
  const [, username = '', password = '', path = '', db] = SOCKET_URL.exec(url) ?? [];
  if (path === '') return null;
  try {
    return {
      path: decodeURIComponent(path),
      ...(username !== '' && { username: decodeURIComponent(username) }),
      ...(password !== '' && { password: decodeURIComponent(password) }),
      ...(db !== undefined && { db: Number(db) }),
    };
  } catch {
    // A sign of percent that stands for nothing.
    return null;
  }
}

export const socketUrlOf = (path: string): string =>
  `unix://${path.split('/').map(encodeURIComponent).join('/')}`;
