import { AppError, UnavailableError } from '../../../../shared/errors.js';
import { nextSlice } from '../../../../shared/tools/time-slices.js';
import type { IncomingItem } from '../../../services/ingest/incoming-items.js';
import { parseJson } from '../../json/json.js';
import type { BodyReading } from '../body.js';
import type { ItemsTarget } from './items-target.js';

/** Items that are handled together: enough that a round trip for each group costs little for each item. */
export const GROUP_ITEMS = 128;
/** Larger ones are parsed in a thread. */
const SMALL_BYTES = 256 * 1024;

/** Parses items one by one; `list` is the field of the body that they are in. A large one is parsed elsewhere, and small ones leave time to others. */
export function createParser<Item, Common>(
  { readJson, ignored }: BodyReading,
  { item, parse }: Pick<ItemsTarget<Item, Common>, 'item' | 'parse'>,
  { common, list }: { readonly common: Common; readonly list: string | null },
) {
  return async (index: number, bytes: Buffer): Promise<IncomingItem<Item>> => {
    await nextSlice();
    try {
      // The thread takes the memory of the bytes, which are a part of others here.
      const value = bytes.length > SMALL_BYTES ? await readJson(ownCopy(bytes)) : parseJson(bytes);
      ignored.checkItem(item, value, { index, list });
      return { index, item: parse(value, common) };
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
