import type { Request, Response } from 'express';
import { createSharedController } from '../../shared/tools/until-aborted.js';
import { AbandonedError } from '../services/abandoned-error.js';
import { reasonOfEnd } from './connections/slow-clients.js';

/** The signals that may end a request before it is answered. The reason of each is an AbandonedError. */
export interface RequestSignals {
  /** Aborts when the client goes away. */
  readonly gone: AbortSignal;
  /** The same, and when the token ends that the request came with: for streams, which last as long as they like. */
  readonly whileValid: () => AbortSignal;
}

/** The longest timer. */
const MAX_MILLISECONDS = 2 ** 31 - 1;

export function createRequestSignals(
  { socket }: Request,
  response: Response,
  { expiresAtMs }: { readonly expiresAtMs: number },
): RequestSignals {
  const gone = createSharedController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort(reasonOfEnd(socket));
  });
  let valid: AbortController | undefined;
  const open = () => {
    const controller = createSharedController();
    gone.signal.addEventListener('abort', () => {
      controller.abort(gone.signal.reason);
    });
    if (expiresAtMs < Infinity) response.once('close', abortAt(controller, expiresAtMs));
    return controller;
  };
  return { gone: gone.signal, whileValid: () => (valid ??= open()).signal };
}

/** Aborts when the token ends. Returns a function that keeps it from that. */
function abortAt(controller: AbortController, expiresAtMs: number): () => void {
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    const left = expiresAtMs - Date.now();
    if (left <= 0) controller.abort(new AbandonedError('token_ended'));
    else timer = setTimeout(look, Math.min(left, MAX_MILLISECONDS));
  };
  look();
  return () => {
    clearTimeout(timer);
  };
}
