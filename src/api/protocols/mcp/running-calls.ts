import { createSharedController } from '../../../shared/tools/aborting.js';
import { isPlainObject } from '../../../shared/json-values.js';
import { AbandonedError } from '../../services/abandoned-error.js';
import type { McpRequest } from './tool.js';

/** A request that is being answered. */
interface RunningCall {
  /** Aborts when the client goes away, or cancels the request. */
  readonly signal: AbortSignal;
  end(): void;
}

/**
 * The requests that this process is answering, so that `notifications/cancelled` of the older era, which comes as a request
 * of its own, can end one of them. It finds only what the same process answers; in the era without sessions, and where
 * several processes answer, a client cancels by leaving. The id of a session tells apart clients of one caller, who all
 * count from 0: it is given out, and not remembered.
 */
export function createRunningCalls() {
  const running = new Map<string, AbortController>();
  return {
    begin: (request: McpRequest): RunningCall => {
      const { method, id, params } = request.body;
      if (method === 'notifications/cancelled' && isPlainObject(params))
        running.get(keyOf(request, params['requestId']) ?? '')?.abort(new AbandonedError('client_closed'));
      const key = id === undefined ? null : keyOf(request, id);
      if (key === null) return { signal: request.signal, end: () => undefined };
      const controller = createSharedController();
      const leave = () => {
        controller.abort(request.signal.reason);
      };
      request.signal.addEventListener('abort', leave, { once: true });
      running.set(key, controller);
      return {
        signal: controller.signal,
        end: () => {
          request.signal.removeEventListener('abort', leave);
          if (running.get(key) === controller) running.delete(key);
        },
      };
    },
  };
}

/** Null for a request without a session, or whose id is none. */
function keyOf({ caller, headers }: McpRequest, id: unknown): string | null {
  const session = headers['mcp-session-id'];
  if (typeof session !== 'string' || !['string', 'number'].includes(typeof id)) return null;
  return JSON.stringify([caller.id, session, id]);
}
