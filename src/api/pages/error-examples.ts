import type { ValidationItem } from '../../shared/errors.js';
import { errorShapeOf } from '../http/response/error-shapes.js';
import type { Route } from '../http/route.js';

/** When a request is answered with an error, by status. */
export const errorDescriptions: Readonly<Record<number, string>> = {
  400: 'The request is understood and cannot be fulfilled, for example because the form is broken.',
  401: 'The request carries no token, or one that is invalid or expired.',
  403: 'The caller is known and may not do this.',
  404: 'There is no such thing, or the caller may not know of it.',
  408: 'The body of the request came too slowly.',
  409: 'The request does not fit the present state of what it is about, or another one with the same key is under way.',
  413: 'The body of the request, or the file in it, is larger than the service accepts.',
  415: 'The service does not read this type of content or this encoding.',
  422: 'Values of the request are missing or invalid. Each item of the list names one of them.',
  429: 'The caller sends too many requests. `Retry-After` says when to try again.',
  500: 'The request failed because of a mistake in the service, which logs the cause.',
  503: 'The service cannot do this at the moment. `Retry-After` says when to try again.',
  507: 'The owner of the document has all that a quota allows, which `detail` names; deleting documents makes room.',
};

interface ErrorExample {
  readonly detail: string | readonly ValidationItem[];
}

const examples: Readonly<Record<number, ErrorExample>> = {
  400: { detail: 'Malformed multipart body' },
  401: { detail: 'Invalid authentication credentials' },
  403: { detail: 'Insufficient permissions' },
  404: { detail: 'Not Found' },
  408: { detail: 'The request body comes too slowly' },
  409: { detail: 'A request with this Idempotency-Key is still under way' },
  429: { detail: 'Too many requests' },
  500: { detail: 'Internal server error' },
  503: { detail: 'redis is unavailable' },
  507: { detail: 'The quota of documents is reached: 1000' },
};

const tooLargeFile = { detail: 'The file is larger than 104857600 bytes' };
const tooLargeJson = {
  detail: 'The JSON body is larger than the 8388608 bytes of this route; large documents go to /ingest/file',
};
const missingFile = {
  detail: [{ loc: ['body', 'file'], msg: 'field required', type: 'value_error.missing' }],
};
const noJson = { detail: [{ loc: ['body'], msg: 'Invalid JSON', type: 'value_error.jsondecode' }] };
const noInteger = {
  detail: [{ loc: ['query', 'limit'], msg: 'value is not a valid integer', type: 'type_error.integer' }],
};
const unknownField = {
  detail: [{ loc: ['query', 'verbose'], msg: 'extra fields not permitted', type: 'value_error.extra' }],
};

/**
 * Returns the answer of a route with a status that its kind implies. Routes have examples of their own for the statuses
 * that they declare themselves.
 */
export function errorExample(route: Route, status: number): unknown {
  const shape = errorShapeOf(route.path);
  if (!shape) return ownExample(route, status);
  // Its other mistakes are shown, where the status is that of them all.
  const shown = status === 400 && shape.statusOf(422) === 400 ? 422 : status;
  const { detail } = ownExample(route, shown) ?? {};
  return detail && shape.bodyOf({ status: shown, detail, hasToken: true });
}

function ownExample(route: Route, status: number): ErrorExample | undefined {
  const types = contentTypesOf(route);
  const takesJson = types.includes('application/json');
  switch (status) {
    case 413:
      return takesJson ? tooLargeJson : tooLargeFile;
    case 415:
      return { detail: `Content-Type must be ${types.join(' or ')}` };
    case 422:
      if (types.length === 0) return route.request.query ? noInteger : unknownField;
      return takesJson ? noJson : missingFile;
    default:
      return examples[status];
  }
}

/** The types of bodies that a route takes. */
function contentTypesOf({ request: { body, form }, upload }: Route): string[] {
  return [
    ...(body && (upload?.alsoJson ?? true) ? ['application/json'] : []),
    ...(form ? ['application/x-www-form-urlencoded', 'multipart/form-data'] : []),
    ...(upload ? ['multipart/form-data'] : []),
  ];
}
