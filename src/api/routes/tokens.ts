import { z } from 'zod';
import { entityIdOf } from '../../shared/access-token.js';
import { anonymous, isSamePassword, notAuthenticated, requirePermission, type Caller } from '../auth.js';
import { errorBody } from '../responses.js';
import { defineRoute, reply, type Route } from '../route.js';
import type { UriRequest } from '../services/tokens.js';
import { jsonInteger, optionalNullOr, optionalOr, queryInteger } from '../validation.js';

export interface TokenRouteOptions {
  readonly makeUri: (request: UriRequest) => string;
  readonly devMode: boolean;
  /** What `password_token` must be; null: no password opens this. */
  readonly password: string | null;
}

const name = z
  .string()
  .refine((text) => entityIdOf(text) !== null, {
    error: 'string does not match regex "^[a-z0-9._-]{1,64}$"',
  })
  .meta({ description: 'Trimmed, lower-cased, spaces become `_`.', example: 'alice' });
const password = z.string().nullish().meta({ description: 'Outside dev mode, without an admin token.' });
const days = { ge: 1, le: 3650 };

const body = z.object({
  name: optionalNullOr(name, 'admin'),
  expiry_days: optionalNullOr(jsonInteger(days), 30),
  password_token: password,
});
const form = z.object({
  name: optionalOr(name, 'admin'),
  expiry_days: optionalOr(queryInteger(days), 30),
  password_token: password,
});

export function createTokenRoutes({ makeUri, devMode, password: expected }: TokenRouteOptions): Route[] {
  const authorize = (caller: Caller, given: unknown) => {
    if (devMode || caller.permissions.has('admin') || opensWith(given, expected)) return;
    if (caller === anonymous) throw notAuthenticated();
    requirePermission(caller, 'admin');
  };
  return [
    defineRoute({
      method: 'post',
      path: '/local/generate_uri',
      summary: 'Make a connection URI that holds an access token',
      tag: 'Tokens',
      permission: 'open',
      request: { body, form },
      emptyBody: 'object',
      authorize,
      responses: { 200: z.object({ uri: z.string() }), 401: errorBody, 403: errorBody },
      handle: ({ body: { name: owner, expiry_days: expiry }, baseUrl }) =>
        Promise.resolve(reply.json(200, { uri: makeUri({ name: owner, days: expiry, baseUrl }) })),
    }),
  ];
}

const withPassword = z.object({ password_token: z.string() });

function opensWith(given: unknown, expected: string | null): boolean {
  const parsed = withPassword.safeParse(given);
  return (
    expected !== null &&
    expected !== '' &&
    parsed.success &&
    isSamePassword(parsed.data.password_token, expected)
  );
}
