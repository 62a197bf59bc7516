import type { Hit } from '../../../shared/search/hit.js';
import type { SearchRequest } from '../../../shared/search/request.js';
import type { Search } from '../../../shared/search/search.js';
import type { Lease, Wanted } from '../answer-memory/answer-memory.js';
import { heldSize } from '../answer-memory/memory-estimate.js';

/** Memory that is reserved for a hit before its size is known. Few hits are larger. */
const HIT_BYTES = 16 * 1024;
/** Of a hit's own, beside its text and metadata. */
const OWN_BYTES = 1_000;

export const hitsWanted = ({
  callerId,
  k,
  signal,
}: Pick<SearchRequest, 'callerId' | 'k' | 'signal'>): Wanted => ({
  callerId,
  signal,
  bytes: k * HIT_BYTES,
});

/**
 * Searches within a lease of what `hitsWanted` says. Hits that turn out larger than there is room for are let go of, and
 * searched for again once there is. @throws UnavailableError when no room comes
 */
export async function searchInRoom(search: Search, request: SearchRequest, lease: Lease): Promise<Hit[]> {
  const { k, signal } = request;
  for (let wanted = k * HIT_BYTES; ;) {
    const measure = createMeasure();
    const onHits = (hits: readonly Hit[]) => {
      const bytes = measure(hits);
      // As much for each that is to come: a search is begun again once or twice, not after every batch.
      if (!lease.resize(Math.max(wanted, bytes))) throw new OutOfRoomError((bytes * k) / hits.length);
    };
    try {
      return await search({ ...request, onHits });
    } catch (error) {
      if (!(error instanceof OutOfRoomError)) throw error;
      wanted = Math.max(wanted, Math.ceil(error.bytes));
      await lease.exchange({ bytes: wanted, signal, isSent: false });
    }
  }
}

/** What hits hold; of a list that has grown, only what is new is looked at. */
function createMeasure(): (hits: readonly Hit[]) => number {
  let [known, measured, bytes]: [readonly Hit[], number, number] = [[], 0, 0];
  return (hits) => {
    if (hits !== known) [known, measured, bytes] = [hits, 0, 0];
    for (const { content, record } of hits.slice(measured))
      bytes += OWN_BYTES + heldSize(content) + heldSize(record.metadata);
    measured = hits.length;
    return bytes;
  };
}

class OutOfRoomError extends Error {
  override readonly name = 'OutOfRoomError';
  /** What all hits may take. */
  readonly bytes: number;

  constructor(bytes: number) {
    super('the hits of a search do not fit the memory reserved for them');
    this.bytes = bytes;
  }
}
