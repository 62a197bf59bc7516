import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { toError } from '../errors.js';
import { untilAborted } from '../tools/until-aborted.js';
import { modelDescriptionSchema, type ModelDescription, type ModelKind } from './description.js';
import type { ModelsAddress } from './models-address.js';

/** The model that the settings name is not there, not whole, or made for something else. The operator must mend it. */
export class WrongModelError extends Error {
  override readonly name = 'WrongModelError';
}

export interface FindOptions {
  /** Called now and then while the process does not answer. */
  readonly onWaiting: (error: Error) => void;
  readonly signal?: AbortSignal | undefined;
}

const WAIT_MILLISECONDS = 500;
const TIMEOUT_MILLISECONDS = 120_000;
/** A process that starts along with this one needs some seconds. */
const FIRST_WARN_MILLISECONDS = 5_000;
const WARN_MILLISECONDS = 15_000;

const errorSchema = z.object({ error: z.object({ message: z.string(), code: z.string().nullish() }) });

/**
 * Asks the process with local models what it knows of a model, and waits for a process that does not answer yet.
 * @throws WrongModelError; the signal's reason when it aborts
 */
export async function findLocalModel(
  address: ModelsAddress,
  { name, kind }: { readonly name: string; readonly kind: ModelKind },
  { onWaiting, signal }: FindOptions,
): Promise<ModelDescription> {
  let warnAt = Date.now() + FIRST_WARN_MILLISECONDS;
  for (;;) {
    const answer = await askForModel(address, name, signal);
    if ('description' in answer) {
      checkKind(answer.description, kind);
      return answer.description;
    }
    if (Date.now() >= warnAt) {
      onWaiting(new Error(`waiting for local models at ${address.url}`, { cause: answer.error }));
      warnAt = Date.now() + WARN_MILLISECONDS;
    }
    await sleep(WAIT_MILLISECONDS, undefined, signal ? { signal } : {});
  }
}

export type ModelAnswer = { readonly description: ModelDescription } | { readonly error: Error };

/**
 * Asks once. An error is one that may pass.
 * @throws WrongModelError; the signal's reason when it aborts
 */
export async function askForModel(
  { url, token }: ModelsAddress,
  name: string,
  signal?: AbortSignal,
): Promise<ModelAnswer> {
  try {
    const request = fetch(`${url}/v1/models/${encodeURIComponent(name)}`, {
      redirect: 'manual',
      headers: token === null ? {} : { Authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
    });
    const response = await (signal ? untilAborted(request, signal) : request);
    const body: unknown = await response.json();
    if (response.ok) return { description: modelDescriptionSchema.parse(body) };
    const { error } = errorSchema.parse(body);
    if (response.headers.get('x-should-retry') === 'false') throw new WrongModelError(error.message);
    return { error: new Error(error.message) };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof WrongModelError) throw error;
    return { error: toError(error) };
  }
}

/** A model for chats makes vectors, too. @throws WrongModelError */
export function checkKind({ kind, id }: ModelDescription, wanted: ModelKind): void {
  if (kind === wanted || (kind === 'chat' && wanted === 'embedding')) return;
  throw new WrongModelError(`${id} is made for ${kind}, not for ${wanted}`);
}
