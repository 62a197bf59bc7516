import { AppError, UnavailableError } from '../../../../shared/errors.js';
import { nextSlice } from '../../../../shared/tools/time-slices.js';
import type { IncomingItem } from '../../../services/ingest/incoming-items.js';
import { parseJson } from '../../json/json.js';
import type { BodyReading } from '../body.js';

/** Items that are handled together: enough that a round trip for each group costs little for each item. */
export const GROUP_ITEMS = 128;
/** Larger ones are parsed in a thread. */
const SMALL_BYTES = 256 * 1024;

/** Parses items one by one. A large one is parsed elsewhere, and small ones leave time to others. */
export function createParser<Item>({ readJson }: BodyReading, parse: (value: unknown) => Item) {
  return async (index: number, bytes: Buffer): Promise<IncomingItem<Item>> => {
    await nextSlice();
    try {
      // The thread takes the memory of the bytes, which are a part of others here.
      const value = bytes.length > SMALL_BYTES ? await readJson(ownCopy(bytes)) : parseJson(bytes);
      return { index, item: parse(value) };
    } catch (error) {
      if (error instanceof AppError || error instanceof UnavailableError) return { index, error };
      throw error;
    }
  };
}

function ownCopy(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}
