import { z } from 'zod';
import { toError, UnavailableError } from '../../errors.js';
import type { ModelsAddress } from '../../local-models/models-address.js';
import type { CacheBuildId } from '../../ports.js';
import { untilAborted } from '../../tools/until-aborted.js';
import { requestState } from './request-state.js';
import { parseStateId, stateIdOf } from './state-id.js';

const TIMEOUT_MILLISECONDS = 10_000;
const listSchema = z.object({ data: z.array(z.object({ id: z.string() })) });

/** The builds of named caches whose state is kept. @throws UnavailableError */
export async function keptBuilds(
  { url, token }: ModelsAddress,
  signal: AbortSignal | undefined,
): Promise<CacheBuildId[]> {
  try {
    const request = fetch(`${url}/v1/states`, {
      redirect: 'manual',
      headers: token === null ? {} : { Authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
    });
    const response = await untilAborted(request, signal);
    if (!response.ok) throw new Error(`local models answered ${String(response.status)}`);
    const { data } = listSchema.parse(await response.json());
    return data.map(({ id }) => parseStateId(id)).filter((id) => id !== null);
  } catch (error) {
    signal?.throwIfAborted();
    throw new UnavailableError('local models', { cause: toError(error) });
  }
}

/** Removes the state of a build, if there is one. @throws UnavailableError */
export async function forgetState(address: ModelsAddress, id: CacheBuildId): Promise<void> {
  await requestState(address, { method: 'DELETE', id: stateIdOf(id) }, {});
}
