import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { ImpossibleError, toError, UnavailableError } from '../../errors.js';
import type { ModelsAddress } from '../../local-models/processes/models-address.js';
import { createDeadline } from '../../tools/deadline.js';

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
