import type { z } from 'zod';
import type { errorBody, validationErrorBody } from '../http/reply/responses.js';

interface SharedError {
  /** When a request is answered with this status. */
  readonly description: string;
  /** The answer that any route may give. There is none where only routes declare the status. */
  readonly example?: z.infer<typeof errorBody> | z.infer<typeof validationErrorBody>;
}

/** The errors that routes share, by status. A route that declares a status itself has an example of its own. */
export const errorExamples: Readonly<Record<number, SharedError>> = {
  400: {
    description: 'The request is understood and cannot be fulfilled, for example because the form is broken.',
    example: { detail: 'Malformed multipart body' },
  },
  401: {
    description: 'The request carries no token, or one that is invalid or expired.',
    example: { detail: 'Invalid authentication credentials' },
  },
  403: {
    description: 'The caller is known and may not do this.',
    example: { detail: 'Insufficient permissions' },
  },
  404: {
    description: 'There is no such thing, or the caller may not know of it.',
    example: { detail: 'Not Found' },
  },
  408: {
    description: 'The body of the request came too slowly.',
    example: { detail: 'The request body comes too slowly' },
  },
  409: {
    description: 'The request does not fit the present state of what it is about.',
  },
  413: {
    description: 'The body of the request, or the file in it, is larger than the service accepts.',
    example: {
      detail:
        'The JSON body is larger than the 8388608 bytes of this route; large documents go to /ingest/file',
    },
  },
  415: {
    description: 'The service does not read this type of content or this encoding.',
    example: { detail: 'Content-Type must be application/json' },
  },
  422: {
    description: 'Values of the request are missing or invalid. Each item of the list names one of them.',
    example: { detail: [{ loc: ['body', 'content'], msg: 'field required', type: 'value_error.missing' }] },
  },
  429: {
    description: 'The caller sends too many requests. `Retry-After` says when to try again.',
    example: { detail: 'Too many requests' },
  },
  500: {
    description: 'The request failed because of a mistake in the service, which logs the cause.',
    example: { detail: 'Internal server error' },
  },
  503: {
    description: 'The service cannot do this at the moment. `Retry-After` says when to try again.',
    example: { detail: 'redis is unavailable' },
  },
};
