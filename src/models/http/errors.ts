import type { Response } from 'express';
import { z } from 'zod';
import { at } from '../../shared/at.js';
import { NoEngineError } from '../../shared/local-models/import-engine.js';
import { UnavailableError } from '../../shared/errors.js';
import type { Logger } from '../../shared/observability/logger.js';
import { ModelError, type ModelErrorCode } from '../engine/model-error.js';

interface ErrorReply {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  /** Seconds; null where asking again changes nothing. */
  readonly retryAfter: number | null;
  readonly tokens?: number | null;
}

const STATUSES: Readonly<Record<ModelErrorCode, number>> = {
  invalid_request: 400,
  context_length_exceeded: 400,
  wrong_kind: 400,
  model_not_found: 404,
  state_not_found: 404,
  model_changed: 409,
  // The request is right, but the model or the service is not: clients must not blame a text for it.
  invalid_model: 500,
  too_large_for_memory: 500,
  overloaded: 503,
};
const RETRY_AFTER_SECONDS = 2;

function replyFor(error: unknown): ErrorReply | null {
  if (error instanceof ModelError) {
    const { code, message, field, tokens } = error;
    const retryAfter = code === 'overloaded' ? RETRY_AFTER_SECONDS : null;
    return { status: STATUSES[code], code, message, param: field, retryAfter, tokens };
  }
  if (error instanceof z.ZodError) {
    const { message, path } = at(error.issues, 0);
    const param = path.map(String).join('.');
    return { status: 400, code: 'invalid_request', message, param, retryAfter: null };
  }
  // The disk has no room for a state, for example.
  if (error instanceof UnavailableError) {
    const { message, retryAfterSeconds: retryAfter } = error;
    return { status: 503, code: 'unavailable', message, param: null, retryAfter };
  }
  if (error instanceof NoEngineError)
    return { status: 500, code: 'no_engine', message: error.message, param: null, retryAfter: null };
  return statusOfBody(error);
}

/** Reads the status that errors of the body parser carry. */
function statusOfBody(error: unknown): ErrorReply | null {
  const parsed = z.object({ status: z.int().min(400).max(499) }).safeParse(error);
  if (!parsed.success) return null;
  const { status } = parsed.data;
  const message = status === 413 ? 'the body is too large' : 'the body is no JSON';
  return { status, code: 'invalid_request', message, param: null, retryAfter: null };
}

/** Answers an error in the shape of OpenAI's API, or ends a stream that has begun. */
export function replyError(response: Response, error: unknown, logger: Logger): void {
  const reply = replyFor(error);
  if (!reply) logger.error({ err: error }, 'request failed');
  else if (reply.status >= 500) logger.warn({ err: error, code: reply.code }, 'request refused');
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const {
    status,
    code,
    message,
    param,
    retryAfter,
    tokens = null,
  } = reply ?? {
    status: 500,
    code: 'internal',
    message: 'internal error',
    param: null,
    retryAfter: null,
  };
  if (retryAfter !== null) response.set('Retry-After', String(retryAfter));
  response.set('x-should-retry', String(retryAfter !== null || reply === null));
  const type = status < 500 ? 'invalid_request_error' : 'server_error';
  response
    .status(status)
    .json({ error: { message, type, param, code, ...(tokens === null ? {} : { tokens }) } });
}
