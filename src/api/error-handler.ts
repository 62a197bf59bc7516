import { STATUS_CODES } from 'node:http';
import { types } from 'node:util';
import type { ErrorRequestHandler } from 'express';
import { AppError, UnavailableError, type ValidationItem } from '../shared/errors.js';
import { toUnavailable } from '../shared/redis.js';
import { AbandonedError } from './abandoned.js';
import { ClientGoneError } from './body.js';
import { requestLog } from './request-log.js';
import { sendJson } from './send-json.js';

export interface ErrorReply {
  readonly status: number;
  readonly detail: string | readonly ValidationItem[];
  readonly headers: Readonly<Record<string, string>>;
}

/** The one map from errors to HTTP. What it does not know shows nothing of itself. */
export function describeError(thrown: unknown): ErrorReply {
  const error = toUnavailable(thrown);
  if (error instanceof AppError) {
    const { status, detail, headers } = error;
    return { status, detail, headers };
  }
  if (error instanceof UnavailableError) {
    const headers = { 'Retry-After': String(Math.max(1, Math.ceil(error.retryAfterSeconds))) };
    return { status: 503, detail: error.message, headers };
  }
  const status = statusOfExpress(error);
  return status === null
    ? { status: 500, detail: 'Internal server error', headers: {} }
    : { status, detail: STATUS_CODES[status] ?? 'Bad Request', headers: {} };
}

/** Express and its file server throw errors with a status: a path that cannot be decoded is one that we do not have. */
function statusOfExpress(error: unknown): number | null {
  if (!types.isNativeError(error) || !('status' in error) || typeof error.status !== 'number') return null;
  const { status } = error;
  if (status === 400) return 404;
  return status > 400 && status < 500 ? status : null;
}

export const handleError: ErrorRequestHandler = (error: unknown, request, response, _next) => {
  const isGone =
    error instanceof ClientGoneError ||
    error instanceof AbandonedError ||
    (request.socket.destroyed && !response.writableFinished);
  if (isGone) {
    requestLog(request).debug('the client went away');
    response.destroy();
    return;
  }
  const { status, detail, headers } = describeError(error);
  if (status === 500) requestLog(request).error({ err: error }, 'request failed');
  else if (status > 500) requestLog(request).warn({ err: error }, 'request refused for now');
  if (response.headersSent) {
    // An answer that was begun is cut off rather than made to look whole.
    response.destroy();
    return;
  }
  sendJson(response.set(headers), status, { detail });
};
