import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { toError, UnavailableError, ImpossibleError } from '../../errors.js';
import { jsonOrNull } from '../../json-values.js';
import type { ModelsAddress } from '../../local-models/processes/models-address.js';
import type { CacheBuildId } from '../../ports.js';
import { createDeadline, untilAborted } from '../../tools/aborting.js';

const TIMEOUT_MILLISECONDS = 10_000;
const listSchema = z.object({ data: z.array(z.object({ id: z.string() })) });

/**
 * Returns the names of the states that processes keep, of all processes that answer. @throws UnavailableError when none
 * does
 */
export async function keptStates(
  addresses: readonly ModelsAddress[],
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const lists = await Promise.allSettled(addresses.map((address) => listStates(address, signal)));
  const answered = lists.filter((list) => list.status === 'fulfilled');
  const [failed] = lists.filter((list) => list.status === 'rejected');
  if (answered.length === 0 && failed) throw failed.reason;
  return [...new Set(answered.flatMap(({ value }) => value))];
}

async function listStates({ url, token }: ModelsAddress, signal: AbortSignal | undefined): Promise<string[]> {
  try {
    const request = fetch(`${url}/v1/states`, {
      redirect: 'manual',
      headers: token === null ? {} : { Authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
    });
    const response = await untilAborted(request, signal);
    if (!response.ok) throw new Error(`local models answered ${String(response.status)}`);
    return listSchema.parse(await response.json()).data.map(({ id }) => id);
  } catch (error) {
    signal?.throwIfAborted();
    throw new UnavailableError('local models', { cause: toError(error) });
  }
}

/** Removes a state wherever it is kept. @throws UnavailableError when a process does not answer, after all were asked */
export async function forgetState(addresses: readonly ModelsAddress[], id: string): Promise<void> {
  const removals = await Promise.allSettled(
    addresses.map((address) => requestState(address, { method: 'DELETE', id }, {})),
  );
  const [failed] = removals.filter((removal) => removal.status === 'rejected');
  if (failed) throw failed.reason;
}

/**
 * The name of a state: it says whose it is, so that a state that nobody uses any more can be found.
 *
 * @param installation tells the caches of several installations apart that ask one process with local models
 */
export function stateIdOf(installation: string, { ownerId, name, build }: CacheBuildId): string {
  return JSON.stringify([installation, ownerId, name, build]);
}

const idSchema = z.tuple([z.string(), z.string(), z.string(), z.string()]);

/** Null for a state that is not of a named cache of this installation. */
export function parseStateId(installation: string, id: string): CacheBuildId | null {
  const [of, ownerId, name, build] = idSchema.safeParse(jsonOrNull(id)).data ?? [];
  if (of !== installation || ownerId === undefined || name === undefined || build === undefined) return null;
  return { ownerId, name, build };
}

/** The texts do not fit the window of the model. */
export class TooManyTokensError extends Error {
  override readonly name = 'TooManyTokensError';
  readonly tokens: number;

  constructor(tokens: number) {
    super(`the texts take ${String(tokens)} tokens`);
    this.tokens = tokens;
  }
}

const COMPONENT = 'local models';
/** Reading one step of a text takes far less on any processor; a model that is loaded first may take minutes. */
const SILENCE_MILLISECONDS = 300_000;
/** Removing a file takes no time. The sweep finds files that are not removed. */
const REMOVAL_MILLISECONDS = 10_000;

const progressSchema = z.object({ read: z.int(), of: z.int().positive() });
const endSchema = z.object({ tokens: z.int(), tokens_reused: z.int(), bytes: z.int() });
type StateEnd = z.infer<typeof endSchema>;
const lineSchema = z.union([endSchema, progressSchema]);
const errorSchema = z.object({
  error: z.object({ code: z.string(), message: z.string(), tokens: z.int().nonnegative().optional() }),
});

interface StateRequest {
  readonly method: 'PUT' | 'DELETE';
  readonly id: string;
  readonly body?: object;
}

interface StateCall {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((share: number) => void) | undefined;
}

/**
 * Sends a request about a state, and reads its answer to the end.
 * @throws TooManyTokensError; ImpossibleError when it would be refused again; UnavailableError; the signal's reason when it aborts
 */
export async function requestState(
  { url, token }: ModelsAddress,
  { method, id, body }: StateRequest,
  { signal, onProgress }: StateCall,
): Promise<StateEnd | null> {
  const deadline = createDeadline(method === 'DELETE' ? REMOVAL_MILLISECONDS : SILENCE_MILLISECONDS, signal);
  try {
    const response = await fetch(`${url}/v1/states/${encodeURIComponent(id)}`, {
      method,
      redirect: 'manual',
      signal: deadline.signal,
      headers: {
        'Content-Type': 'application/json',
        ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (!response.ok) throw await refusalOf(response);
    let end: StateEnd | null = null;
    for await (const line of linesOf(response)) {
      deadline.extend();
      const parsed = lineSchema.parse(JSON.parse(line));
      if ('bytes' in parsed) end = parsed;
      else onProgress?.(parsed.read / parsed.of);
    }
    return end;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof TooManyTokensError || error instanceof ImpossibleError) throw error;
    throw new UnavailableError(COMPONENT, { cause: toError(error) });
  } finally {
    deadline.clear();
  }
}

async function* linesOf({ body }: Response): AsyncIterable<string> {
  if (body) yield* createInterface({ input: Readable.from(body), crlfDelay: Infinity });
}

/** Errors whose cause is the model file, the settings or the texts, and that do not pass. */
const LASTING = ['invalid_model', 'too_large_for_memory', 'no_engine', 'invalid_request'];
const UNKNOWN = { code: 'unknown', message: '', tokens: undefined };

async function refusalOf(response: Response): Promise<Error> {
  const parsed = errorSchema.safeParse(await response.json().catch(() => null));
  const { code, message, tokens } = parsed.success ? parsed.data.error : UNKNOWN;
  if (code === 'context_length_exceeded' && tokens !== undefined) return new TooManyTokensError(tokens);
  if (LASTING.includes(code)) return new ImpossibleError(`gguf_file: ${message}`);
  return new Error(`local models answered ${String(response.status)} (${code})`);
}
