import type { Hit, SearchRequest } from '../../../shared/search/request.js';
import type { Lease } from '../answer-memory/answer-memory.js';
import { heldSize } from '../answer-memory/memory-estimate.js';

/** Memory that is reserved for a hit before its size is known. Few hits are larger. */
const HIT_BYTES = 16 * 1024;
/** Bytes of a hit besides its text and metadata. */
const OWN_BYTES = 1_000;

/** The greatest number of hits and copies that a search holds at once. */
export interface Expected {
  /** The most hits. */
  readonly hits: number;
  /** The number of copies of each hit. */
  readonly copies: number;
}

/** The memory that is reserved for it. */
export const bytesOf = ({ hits, copies }: Expected): number => hits * copies * HIT_BYTES;

/**
 * Searches within a lease, which must be of the size that is expected. Hits that turn out larger than the room that is left
 * are dropped, and the search is repeated when there is enough room.
 * @throws UnavailableError when no room becomes free in time
 */
export async function searchWithinMemory<Found>(
  search: (request: SearchRequest) => Promise<Found>,
  request: SearchRequest,
  { lease, expected }: { readonly lease: Lease; readonly expected: Expected },
): Promise<Found> {
  const { signal } = request;
  for (let wanted = bytesOf(expected); ;) {
    const measure = createMeasure();
    const onHits = (hits: readonly Hit[]) => {
      const bytes = expected.copies * measure(hits);
      // The remaining hits are expected to be as large, so that a search is repeated once or twice, not after each batch.
      if (!lease.resize(Math.max(wanted, bytes)))
        throw new OutOfRoomError((bytes * expected.hits) / hits.length);
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

/** Returns a function that measures hits. When it is called with a list that has grown, it measures only the new hits. */
function createMeasure(): (hits: readonly Hit[]) => number {
  let [known, measured, bytes]: [readonly Hit[], number, number] = [[], 0, 0];
  return (hits) => {
    if (hits !== known) [known, measured, bytes] = [hits, 0, 0];
    for (const { content, location, section, record } of hits.slice(measured))
      bytes +=
        OWN_BYTES + heldSize(content) + heldSize(location) + heldSize(section) + heldSize(record.metadata);
    measured = hits.length;
    return bytes;
  };
}

class OutOfRoomError extends Error {
  override readonly name = 'OutOfRoomError';
  /** An estimate of the bytes that all hits take. */
  readonly bytes: number;

  constructor(bytes: number) {
    super('the hits of a search do not fit the memory reserved for them');
    this.bytes = bytes;
  }
}
