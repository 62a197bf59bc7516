import { hash } from 'node:crypto';
import { createTally } from '../tools/tally.js';
import type { Embedding } from './embedding.js';

/** The queries that are remembered: of one caller, of all callers, and the bytes of their vectors. */
const MAX_OF_CALLER = 100;
const MAX_IN_ALL = 4_096;
const MAX_BYTES = 16 * 1024 ** 2;

type EmbedQuery = Embedding['embedQuery'];
type Embedded = Awaited<ReturnType<EmbedQuery>>;

/** Vectors of recent queries. */
export interface QueryVectors {
  /** Embeds the queries of a caller. Those of the last minutes are answered without the provider. */
  of(callerId: string): { readonly embedQuery: EmbedQuery };
}

interface Remembered {
  readonly embedded: Embedded;
  readonly expiresAt: number;
}

/**
 * Remembers the vectors of recent queries of each caller, because a remote model takes a tenth of a second for one, and
 * clients repeat their queries: for the next page, or with another filter. Nothing is shared between callers, since the
 * shorter time of an answer would tell one that another had asked the same. Queries are kept as digests. The least recent
 * queries of the least recent caller are forgotten first. All vectors are of the one model of `embedding`.
 *
 * @param options.seconds the time for which a vector is remembered
 */
export function rememberQueries(
  embedding: Pick<Embedding, 'embedQuery'>,
  { seconds, now = () => performance.now() }: { readonly seconds: number; readonly now?: () => number },
): QueryVectors {
  const memory = createMemory();
  return {
    of: (callerId) => ({
      embedQuery: async (text, options) => {
        const digest = hash('sha256', text, 'base64');
        const known = memory.take(callerId, digest);
        const isFresh = known !== undefined && now() < known.expiresAt;
        const embedded = isFresh ? known.embedded : await embedding.embedQuery(text, options);
        memory.put(callerId, digest, isFresh ? known : { embedded, expiresAt: now() + 1_000 * seconds });
        // A copy, since a vector may be handed over to a thread, which empties it here.
        return { ...embedded, vector: embedded.vector.slice() };
      },
    }),
  };
}

/** Both maps are in order of use: their first entries are the least recently used. */
function createMemory() {
  const callers = new Map<string, Map<string, Remembered>>();
  const used = createTally();
  const count = ({ embedded }: Remembered, by: 1 | -1) => {
    used.add('queries', by);
    used.add('bytes', by * embedded.vector.byteLength);
  };
  /** Removes a query, and returns it. */
  const take = (callerId: string, digest: string): Remembered | undefined => {
    const own = callers.get(callerId);
    const found = own?.get(digest);
    if (!own || !found) return undefined;
    own.delete(digest);
    if (own.size === 0) callers.delete(callerId);
    count(found, -1);
    return found;
  };
  const isFull = () => used.of('queries') > MAX_IN_ALL || used.of('bytes') > MAX_BYTES;
  const dropFirst = (callerId: string | undefined) => {
    if (callerId === undefined) return;
    const [digest] = callers.get(callerId)?.keys() ?? [];
    if (digest !== undefined) take(callerId, digest);
  };
  const put = (callerId: string, digest: string, remembered: Remembered): void => {
    // Another request may have asked the same in the meantime.
    take(callerId, digest);
    const own = callers.get(callerId) ?? new Map<string, Remembered>();
    callers.delete(callerId);
    callers.set(callerId, own.set(digest, remembered));
    count(remembered, 1);
    if (own.size > MAX_OF_CALLER) dropFirst(callerId);
    while (isFull()) dropFirst(callers.keys().next().value);
  };
  return { take, put };
}
