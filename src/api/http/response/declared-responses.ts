import { z } from 'zod';
import type { Route } from '../route.js';
import { errorShapeOf } from './error-shapes.js';
import type { ResponseShape } from './reply.js';

/** Body of an error whose `detail` is a sentence. */
export const errorBody = z
  .object({ detail: z.string() })
  .meta({ id: 'Error', description: 'Why the request was refused.' });

/** The last event of an answer in events that fails after its first one. */
export const streamError = z
  .object({
    type: z.literal('error'),
    status: z.int().describe('The status that an answer would have had that fails before its first event.'),
    detail: z.string(),
  })
  .meta({
    id: 'StreamError',
    description: 'Why an answer in events ends early, in an event of the type `error`.',
  });

const validationItem = z
  .object({
    loc: z.array(z.union([z.string(), z.int()])),
    msg: z.string(),
    type: z.string(),
    ctx: z.object({ limit_value: z.number() }).optional(),
  })
  .meta({
    id: 'ValidationItem',
    description:
      'One value that is missing or invalid: `loc` is its place in the request, `msg` says what is wrong, `type` names ' +
      'the kind of mistake, and `ctx` holds the limit that the value exceeds.',
  });

export const validationErrorBody = z
  .object({ detail: z.array(validationItem) })
  .meta({ id: 'ValidationError', description: 'All values of the request that are missing or invalid.' });

/** Returns all responses of a route by status: the declared ones, and the errors that any route of its kind may answer. */
export function responsesOf(route: Route): ReadonlyMap<number, ResponseShape> {
  const shape = errorShapeOf(route.path);
  const responses = new Map<number, ResponseShape>();
  for (const [status, body] of impliedErrors(route))
    responses.set(shape ? shape.statusOf(status) : status, shape ? shape.body : body);
  for (const [status, body] of Object.entries(route.responses)) responses.set(Number(status), body);
  return responses;
}

/** The errors that any route of its kind may answer, in our own form. */
function impliedErrors(route: Route): ReadonlyMap<number, ResponseShape> {
  const { path, body } = route.request;
  const responses = new Map<number, ResponseShape>();
  // A path parameter that cannot be decoded names nothing.
  if (path) responses.set(404, errorBody);
  // A form may be malformed.
  if (route.upload ?? route.request.form) responses.set(400, errorBody);
  if (route.permission !== 'open') responses.set(401, errorBody).set(403, errorBody);
  if (body || route.upload || route.items)
    responses.set(408, errorBody).set(413, errorBody).set(415, errorBody);
  // Any request may have fields that its route does not know, which are refused where that is asked for.
  responses.set(422, validationErrorBody);
  // The key may belong to another request, or to one that is under way.
  if (route.idempotency) responses.set(409, errorBody);
  responses.set(429, errorBody).set(500, errorBody).set(503, errorBody);
  return responses;
}
