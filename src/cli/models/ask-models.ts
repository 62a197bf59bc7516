import { z } from 'zod';
import { modelDescriptionSchema, type ModelDescription } from '../../shared/local-models/description.js';
import type { ModelsAddress } from '../../shared/local-models/processes/models-address.js';
import { UserError } from '../user-messages.js';

/** A model is loaded at its first request, and reads and writes at the speed of a processor. */
const PATIENCE_MS = 600_000;

const errorSchema = z.object({ error: z.object({ message: z.string() }) });

/** Describes the model as the process at this address knows it; null where none answers, or it knows no such model. */
export async function findDescription(
  { url, token }: ModelsAddress,
  id: string,
  patienceMs = 5_000,
): Promise<ModelDescription | null> {
  try {
    const response = await fetch(`${url}/v1/models/${encodeURIComponent(id)}`, {
      redirect: 'manual',
      headers: authorization(token),
      signal: AbortSignal.timeout(patienceMs),
    });
    return response.ok ? modelDescriptionSchema.parse(await response.json()) : null;
  } catch {
    // Nothing listens there, or something else.
    return null;
  }
}

/**
 * Sends a request to the process with local models.
 * @throws UserError with the message of the process
 */
export async function postToModels(
  { url, token }: ModelsAddress,
  path: string,
  body: object,
): Promise<Response> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { ...authorization(token), 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(PATIENCE_MS),
  }).catch((error: unknown) => {
    throw new UserError('The process with local models has ended while it worked, or does not answer.', {
      cause: error,
    });
  });
  if (response.ok) return response;
  const problem = errorSchema.safeParse(await response.json().catch(() => null));
  throw new UserError(problem.data?.error.message ?? `the process answered ${String(response.status)}`);
}

const authorization = (token: string | null): Record<string, string> =>
  token === null ? {} : { authorization: `Bearer ${token}` };
