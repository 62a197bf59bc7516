import { setMaxListeners } from 'node:events';
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

/** A text of more characters is no chunk of a document and no question. */
export const MAX_TEXT_CHARACTERS = 1024 ** 2;
/** Texts of one request that wait for the model at once, so that a long list does not fill its queue. */
export const TEXTS_AT_ONCE = 16;

export type Handler = (request: Request, response: Response) => Promise<void>;

/** Aborts when the client has left before its answer was sent, which stops the work for it. */
export function whileConnected(response: Response): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort(new Error('the client has left'));
  });
  return controller.signal;
}

/**
 * Runs a task for each item, some at once. When one fails, no other is begun or goes on waiting: nobody gets their results. It
 * ends when all that were begun have ended, so that a model is not unloaded under them.
 */
export async function allOrNone<Item, Result>(
  items: readonly Item[],
  { atOnce, signal }: { readonly atOnce: number; readonly signal: AbortSignal },
  task: (item: Item, signal: AbortSignal) => Promise<Result>,
): Promise<Result[]> {
  const failed = new AbortController();
  const each = AbortSignal.any([signal, failed.signal]);
  setMaxListeners(0, each);
  const results = new Map<number, Result>();
  const entries = items.entries();
  const work = async () => {
    for (const [index, item] of entries) {
      each.throwIfAborted();
      results.set(index, await task(item, each));
    }
  };
  const workers = Array.from({ length: Math.min(atOnce, items.length) }, work);
  for (const worker of workers)
    worker.catch((error: unknown) => {
      failed.abort(error);
    });
  await Promise.allSettled(workers);
  each.throwIfAborted();
  return [...results].sort(([one], [other]) => one - other).map(([, result]) => result);
}
