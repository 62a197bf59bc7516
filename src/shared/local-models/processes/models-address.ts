import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { valueOf } from '../../at.js';
import type { models as section } from '../../settings/sections/models.js';
import { tracedFetch } from '../../tracing/tracing.js';

/** The address of a process with local models. */
export interface ModelsAddress {
  /** Without a slash at its end. */
  readonly url: string;
  /** Null where none is asked for. */
  readonly token: string | null;
}

/** All processes with local models, in the order of the settings. Each has the same files. */
export type ModelsAddresses = readonly [ModelsAddress, ...ModelsAddress[]];

export function modelsAddressesOf({ models }: { readonly models: z.infer<typeof section> }): ModelsAddresses {
  const token = models.token === '' ? null : models.token;
  const host = models.host.includes(':') ? `[${models.host}]` : models.host;
  const own = `http://${host}:${String(models.port)}`;
  const urls = new Set(models.urls.map((url) => url.replace(/\/$/, '')));
  const [first = { url: own, token }, ...others] = [...urls].map((url) => ({ url, token }));
  return [first, ...others];
}

/**
 * Returns the processes in the order in which they are asked for an object that only one of them holds. The order is the
 * same at every place and time, and another one for each name, so that all processes hold about as much (rendezvous
 * hashing). When a process comes or goes, only the names that it held or gets have another first process.
 *
 * @param holder address of the process that holds it already; it is the first then
 */
export function stickyOrder(
  addresses: ModelsAddresses,
  name: string,
  holder: string | null = null,
): ModelsAddress[] {
  const weights = new Map(addresses.map(({ url }) => [url, url === holder ? '~' : weigh(url, name)]));
  const weightOf = ({ url }: ModelsAddress) => valueOf(weights, url);
  return [...addresses].sort((one, other) => (weightOf(one) < weightOf(other) ? 1 : -1));
}

/** Hexadecimal digits, all of them below `~`. */
function weigh(url: string, name: string): string {
  return createHash('sha256')
    .update(JSON.stringify([url, name]))
    .digest('hex');
}

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
