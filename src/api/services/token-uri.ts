import { isIP } from 'node:net';
import { entityIdOf, PERMISSIONS, signAccessToken } from '../../shared/access/access-token.js';

export interface UriSettings {
  readonly secret: string;
  readonly scheme: string;
  /** Empty when the host of the request is used. */
  readonly host: string;
  /** 0 when the port of the request is used. */
  readonly port: number;
}

export interface UriRequest {
  readonly name: string;
  readonly days: number;
  /** The address at which the request reached the service. */
  readonly baseUrl: string;
}

/** Makes connection URIs that hold a token: `<scheme>://<name>:<token>@<host>:<port>`. */
export function createTokenUri({ secret, scheme, host, port }: UriSettings) {
  return ({ name, days, baseUrl }: UriRequest): string => {
    const asked = new URL(baseUrl);
    const entityId = entityIdOf(name);
    if (entityId === null) throw new Error('the name was not validated');
    const token = signAccessToken(secret, { entityId, type: 'developer', permissions: PERMISSIONS, days });
    const address = host === '' ? asked.hostname : isIP(host) === 6 ? `[${host}]` : host;
    const defaultPort = asked.protocol === 'https:' ? '443' : '80';
    const place = `${address}:${port === 0 ? asked.port || defaultPort : String(port)}`;
    return `${scheme}://${entityId}:${token}@${place}`;
  };
}
