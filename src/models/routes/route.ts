import { setMaxListeners } from 'node:events';
import type { Request, Response } from 'express';
import type { LoadedModels } from '../engine/loaded-models.js';
import type { StateFiles } from '../engine/saved-states.js';
import type { ModelsMetrics } from '../http/metrics.js';

/** What routes are made of. */
export interface RouteParts {
  readonly models: LoadedModels;
  readonly states: StateFiles;
  readonly metrics: ModelsMetrics;
}

export type Handler = (request: Request, response: Response) => Promise<void>;

/** Aborts when the client has left before its answer was sent, which stops the work for it. */
export function whileConnected(response: Response): AbortSignal {
  const controller = new AbortController();
  // Every text of the request that waits for the model listens.
  setMaxListeners(0, controller.signal);
  response.once('close', () => {
    if (!response.writableFinished) controller.abort(new Error('the client has left'));
  });
  return controller.signal;
}
