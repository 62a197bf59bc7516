import { z } from 'zod';
import { toError, UnavailableError } from '../../errors.js';
import type { ModelsAddress } from '../../local-models/processes/models-address.js';
import { untilAborted } from '../../tools/until-aborted.js';
import { requestState } from './request-state.js';

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
