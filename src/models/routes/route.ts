import type { Request, Response } from 'express';
import type { LoadedModels } from '../engine/loaded-models.js';
import type { ModelCatalog } from '../engine/model-catalog.js';
import type { StateFiles } from '../engine/chat/saved-states.js';
import type { ModelsMetrics } from '../http/metrics.js';

/** The objects that routes use. */
export interface RouteParts {
  readonly models: LoadedModels;
  readonly catalog: ModelCatalog;
  readonly states: StateFiles;
  readonly metrics: ModelsMetrics;
}

export type Handler = (request: Request, response: Response) => Promise<void>;

/** Aborts when the client has left before its answer was sent, which stops the work for it. */
export function whileConnected(response: Response): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort(new Error('the client has left'));
  });
  return controller.signal;
}
