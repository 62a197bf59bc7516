import { STATUS_CODES } from 'node:http';
import { types } from 'node:util';
import type { ErrorRequestHandler, Request, Response } from 'express';
import {
  DomainError,
  DuplicateError,
  InvalidFieldError,
  OtherLineError,
  UnavailableError,
  type DomainErrorKind,
  type ValidationItem,
} from '../../shared/errors.js';
import { toUnavailable } from '../../shared/redis/client.js';
import { tokenEnded } from '../auth/authentication.js';
import { HttpError } from './http-error.js';
import { AbandonedError } from '../services/abandoned-error.js';
import { aboutKey } from './request/headers.js';
import { tellError } from './response/error-shapes.js';
import { sendJson } from './response/write.js';
import { requestLogger } from './logging/access-log.js';
import { ClientGoneError } from './request/body.js';

export interface ErrorReply {
  readonly status: number;
  readonly detail: string | readonly ValidationItem[];
  readonly headers: Readonly<Record<string, string>>;
}

/** Converts an error to an HTTP response. This is the only place that does so; unknown errors reveal nothing. */
export function describeError(thrown: unknown): ErrorReply {
  const error = hasLostToken(thrown) ? tokenEnded() : toUnavailable(thrown);
  if (error instanceof HttpError) {
    const { status, detail, headers } = error;
    return { status, detail, headers };
  }
  if (error instanceof DomainError) {
    const detail = detailOf(error);
    const location = error instanceof DuplicateError ? { Location: `/documents/${error.documentId}` } : {};
    const headers = { ...retryAfter(error.retryAfterSeconds), ...location };
    return { status: STATUSES[error.kind], detail, headers };
  }
  if (error instanceof UnavailableError)
    return { status: 503, detail: error.message, headers: retryAfter(error.retryAfterSeconds) };
  const status = statusOfExpress(error);
  return status === null
    ? { status: 500, detail: 'Internal server error', headers: {} }
    : { status, detail: STATUS_CODES[status] ?? 'Bad Request', headers: {} };
}

const hasLostToken = (error: unknown): boolean =>
  error instanceof AbandonedError && error.code === 'token_ended';

const STATUSES: Readonly<Record<DomainErrorKind, number>> = {
  impossible: 400,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  changed: 412,
  too_large: 413,
  unsupported_type: 415,
  invalid_field: 422,
  too_many: 429,
  // After RFC 4918 (11.5), as storages do it. Clients repeat a 429 by themselves, which would never help here.
  over_quota: 507,
  try_later: 503,
};

const retryAfter = (seconds: number | null): Readonly<Record<string, string>> =>
  seconds === null ? {} : { 'Retry-After': String(Math.max(1, Math.ceil(seconds))) };

function detailOf(error: DomainError): ErrorReply['detail'] {
  if (error instanceof InvalidFieldError) return [itemOf(error)];
  if (error instanceof OtherLineError) return [aboutKey(error.message)];
  return error.message;
}

function itemOf({ place, field, message, limit }: InvalidFieldError): ValidationItem {
  return {
    loc: [place, field],
    msg: message,
    type: LIMIT_TYPES[limit.of],
    ctx: { limit_value: limit.value },
  };
}

const LIMIT_TYPES = {
  items: 'value_error.list.max_items',
  bytes: 'value_error',
  characters: 'value_error.any_str.max_length',
} as const;

/** Returns the status of an error of Express. A path that cannot be decoded (400) counts as one that does not exist. */
function statusOfExpress(error: unknown): number | null {
  if (!types.isNativeError(error) || !('status' in error) || typeof error.status !== 'number') return null;
  const { status } = error;
  if (status === 400) return 404;
  return status > 400 && status < 500 ? status : null;
}

/** Sends an answer for an error, whose headers are set already. */
type SendError = (response: Response, reply: ErrorReply, request: Request) => void;

/** Makes the last handler of a group of paths, which answers each error in one form. */
export const answerErrors = (send: SendError): ErrorRequestHandler =>
  function answerError(error: unknown, request, response, _next) {
    const reply = replyTo(error, request, response);
    if (reply) send(response.set(reply.headers), reply, request);
  };

export const handleError = answerErrors((response, { status, detail }, request) => {
  const hasToken = /^Bearer +\S/i.test(request.headers.authorization ?? '');
  const told = tellError(request.path, { status, detail, hasToken });
  sendJson(response, told.status, told.body);
});

/** Returns the answer to an error; null where it is too late for one, which ends the response. */
function replyTo(error: unknown, request: Request, response: Response): ErrorReply | null {
  const isClientGone =
    error instanceof ClientGoneError ||
    (error instanceof AbandonedError && !hasLostToken(error)) ||
    (request.socket.destroyed && !response.writableFinished);
  if (isClientGone) {
    requestLogger(request).debug('the client went away');
    response.destroy();
    return null;
  }
  const reply = describeError(error);
  const { status } = reply;
  if (status === 500) requestLogger(request).error({ err: error }, 'request failed');
  else if (status > 500) requestLogger(request).warn({ err: error }, 'request refused for now');
  if (response.headersSent) {
    // A response that has begun is cut off, so that it does not look complete.
    response.destroy();
    return null;
  }
  return reply;
}
