import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { toError } from '../../errors.js';
import { untilAborted } from '../../tools/aborting.js';
import { modelDescriptionSchema, type ModelDescription, type ModelKind } from '../description.js';
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
/** A file of some gigabytes that is asked for first takes longer, but is read on until somebody asks again. */
const TIMEOUT_MILLISECONDS = 10_000;
/** A process that starts along with this one needs some seconds. */
const FIRST_WARN_MILLISECONDS = 5_000;
const WARN_MILLISECONDS = 15_000;

const errorSchema = z.object({ error: z.object({ message: z.string(), code: z.string().nullish() }) });

/**
 * Asks the processes with local models for the description of a model, and waits while none answers yet.
 * @throws WrongModelError; the signal's reason when it aborts
 */
export async function findLocalModel(
  addresses: readonly ModelsAddress[],
  { name, kind }: { readonly name: string; readonly kind: ModelKind },
  { onWaiting, signal }: FindOptions,
): Promise<ModelDescription> {
  let warnAt = Date.now() + FIRST_WARN_MILLISECONDS;
  for (;;) {
    const answer = await askEachForModel(addresses, name, signal);
    if ('description' in answer) {
      checkKind(answer.description, kind);
      return answer.description;
    }
    if (Date.now() >= warnAt) {
      const urls = addresses.map(({ url }) => url).join(', ');
      onWaiting(new Error(`waiting for local models at ${urls}`, { cause: answer.error }));
      warnAt = Date.now() + WARN_MILLISECONDS;
    }
    await sleep(WAIT_MILLISECONDS, undefined, signal ? { signal } : {});
  }
}

type ModelAnswer = { readonly description: ModelDescription } | { readonly error: Error };

/** The description with the `url` of the process that has the model, or an error that may pass. */
export type FoundModel =
  { readonly description: ModelDescription; readonly url: string } | { readonly error: Error };

/**
 * Asks one process after the other until one has the model.
 * @throws WrongModelError when all have answered and none has it; the signal's reason when it aborts
 */
export async function askEachForModel(
  addresses: readonly ModelsAddress[],
  name: string,
  signal?: AbortSignal,
): Promise<FoundModel> {
  let wrong: WrongModelError | null = null;
  let passing: Error | null = null;
  for (const address of addresses) {
    try {
      const answer = await askForModel(address, name, signal);
      if ('description' in answer) return { ...answer, url: address.url };
      passing ??= answer.error;
    } catch (error) {
      if (!(error instanceof WrongModelError)) throw error;
      wrong ??= error;
    }
  }
  if (wrong && !passing) throw wrong;
  return { error: passing ?? new Error('there is no process with local models') };
}

/**
 * Asks once. A returned error is one that may pass.
 * @throws WrongModelError; the signal's reason when it aborts
 */
async function askForModel(
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
