import { z } from 'zod';
import { entityIdOf } from '../../shared/access/access-token.js';
import { noteUser } from '../../shared/audit/notes.js';
import {
  anonymous,
  isSamePassword,
  notAuthenticated,
  requirePermission,
  type Caller,
} from '../auth/authentication.js';
import type { Guesses } from '../auth/guess-limit.js';
import { errorBody } from '../http/response/declared-responses.js';
import { defineRoute, type Authorize, type Route } from '../http/route.js';
import { jsonInteger, optionalNullOr, optionalOr, queryInteger } from '../http/validation/field-schemas.js';
import type { UriRequest } from '../services/token-uri.js';

export interface TokenRouteOptions {
  readonly makeUri: (request: UriRequest) => string;
  readonly devMode: boolean;
  readonly guesses: Guesses;
  /** The password that `password_token` must be. When it is null, no password opens this route. */
  readonly password: string | null;
}

const name = z
  .string()
  .refine((text) => entityIdOf(text) !== null, {
    error: 'string does not match regex "^[a-z0-9._-]{1,64}$"',
  })
  .meta({
    description: 'The user that the token is for. It is trimmed and lower-cased, and spaces become `_`.',
    examples: ['alice'],
  });
const password = z
  .string()
  .nullish()
  .meta({
    description:
      'The password in `LOCAL_URI_PASSWORD`. Outside dev mode, callers without an admin token need it.',
    // Pages fill it in, where without any they would write `string`, which would count as a guess.
    examples: [''],
  });
const days = { ge: 1, le: 3650 };
const EXPIRY_DESCRIPTION = 'Days until the token expires.';

const body = z.object({
  name: optionalNullOr(name, 'admin'),
  expiry_days: optionalNullOr(jsonInteger(days), 30).describe(EXPIRY_DESCRIPTION),
  password_token: password,
});
const form = z.object({
  name: optionalOr(name, 'admin'),
  expiry_days: optionalOr(queryInteger(days), 30).describe(EXPIRY_DESCRIPTION),
  password_token: password,
});

const connection = z.object({
  uri: z.string().describe('`<scheme>://<name>:<token>@<host>:<port>`; the token is what requests carry.'),
});

export function createTokenRoutes({ makeUri, ...options }: TokenRouteOptions): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/local/generate_uri',
      audit: 'token.create',
      summary: 'Make a connection URI that holds an access token',
      description: 'Open in dev mode, to callers with an admin token, and to those who know the password.',
      tag: 'Tokens',
      permission: 'open',
      request: { body, form },
      emptyBody: 'object',
      maxBodyBytes: 16 * 1024,
      authorize: createAuthorize(options),
      responses: { 200: connection, 401: errorBody, 403: errorBody },
      examples: uriExamples,
      handle: ({ body: { name: owner, expiry_days: expiry }, baseUrl }, reply) => {
        noteUser(entityIdOf(owner) ?? owner);
        return Promise.resolve(reply.json(200, { uri: makeUri({ name: owner, days: expiry, baseUrl }) }));
      },
    }),
  ];
}

const withPassword = z.object({ password_token: z.string() });

function createAuthorize({
  devMode,
  guesses,
  password: expected,
}: Omit<TokenRouteOptions, 'makeUri'>): Authorize {
  const refuse = (caller: Caller): never => {
    if (caller !== anonymous) requirePermission(caller, 'admin');
    throw notAuthenticated();
  };
  return {
    byCaller: (caller) => {
      if (devMode || caller.permissions.has('admin')) return true;
      return expected === null ? refuse(caller) : false;
    },
    byBody: async (caller, body, address) => {
      const given = withPassword.safeParse(body).data?.password_token;
      // Without a password, nothing was guessed that had to be counted.
      if (given === undefined || given === '' || expected === null) return refuse(caller);
      const isRight = () => isSamePassword(given, expected);
      if (!(await guesses.check({ kind: 'password', address }, isRight))) refuse(caller);
    },
  };
}

const uriExamples = {
  body: { name: 'alice', expiry_days: 30 },
  responses: {
    200: { uri: 'databridge://alice:eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.c2lnbmF0dXJl@127.0.0.1:8000' },
    401: { detail: 'Invalid authentication credentials' },
    403: { detail: 'Insufficient permissions' },
  },
};
