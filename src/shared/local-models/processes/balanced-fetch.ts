import { tracedFetch } from '../../tracing/traced-fetch.js';
import type { ModelsAddress, ModelsAddresses } from './models-address.js';

/** A process that failed is asked after all others for this long. */
const REST_MILLISECONDS = 10_000;
/** The silence after which a process counts as hanging. */
const SILENCE_MILLISECONDS = 5_000;
/** Statuses where another process may answer otherwise: it has another file, or none of this name. */
const ELSEWHERE = [404, 409];

interface Candidate extends ModelsAddress {
  underWay: number;
  restsUntil: number;
  askedAt: number;
}

type Fetch = typeof fetch;

/**
 * Fetches like `fetch` from whichever process with local models has the least to do, and asks the next one where that does
 * not answer, cannot, or has another file. Requests are sent to the first address, whose place any other takes. Their
 * bodies must be strings. Objects that one process alone holds are not asked for in this way. Each process is told in which
 * trace it is asked.
 */
export function createBalancedFetch(addresses: ModelsAddresses): Fetch {
  const [first, ...others] = addresses;
  if (others.length === 0) return tracedFetch;
  const candidates = addresses.map((each): Candidate => ({
    ...each,
    underWay: 0,
    restsUntil: 0,
    askedAt: 0,
  }));
  return async (input, init) => {
    const path = pathOf(input, first);
    let outcome: Outcome | null = null;
    for (const candidate of inOrder(candidates)) {
      const next: Outcome = await ask(
        candidate,
        () => tracedFetch(`${candidate.url}${path}`, init),
        init?.signal,
      );
      init?.signal?.throwIfAborted();
      if ('response' in next && isFinal(next.response)) return next.response;
      // A failure that may pass says more than a process without the file.
      if (outcome === null || isPassing(next)) outcome = next;
    }
    if (outcome && 'response' in outcome) return outcome.response;
    throw outcome?.error;
  };
}

type Outcome = { readonly response: Response } | { readonly error: unknown };

const isFinal = ({ status }: Response) => status < 500 && !ELSEWHERE.includes(status);
const isPassing = (outcome: Outcome) => 'error' in outcome || outcome.response.status >= 500;

function pathOf(input: Parameters<Fetch>[0], { url }: ModelsAddress): string {
  const address = input instanceof Request ? input.url : String(input);
  if (!address.startsWith(`${url}/`)) throw new Error('a request to another host than local models');
  return address.slice(url.length);
}

/** Orders processes: resting ones last; else by their work under way, and by the time since they were last asked. */
function inOrder(candidates: readonly Candidate[]): Candidate[] {
  const now = performance.now();
  const rests = ({ restsUntil }: Candidate) => Number(restsUntil > now);
  return [...candidates].sort(
    (one, other) => rests(one) - rests(other) || one.underWay - other.underWay || one.askedAt - other.askedAt,
  );
}

async function ask(
  candidate: Candidate,
  send: () => Promise<Response>,
  signal: AbortSignal | null | undefined,
): Promise<Outcome> {
  const begin = performance.now();
  candidate.askedAt = begin;
  candidate.underWay += 1;
  try {
    return { response: await send() };
  } catch (error) {
    const isAway = signal?.aborted !== true || performance.now() - begin >= SILENCE_MILLISECONDS;
    if (isAway) candidate.restsUntil = performance.now() + REST_MILLISECONDS;
    return { error };
  } finally {
    candidate.underWay -= 1;
  }
}
