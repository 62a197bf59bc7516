import type { z } from 'zod';
import { AppError, UnavailableError } from '../../../../shared/errors.js';
import { nextSlice } from '../../../../shared/tools/time-slices.js';
import type { IncomingItem } from '../../../services/ingest/incoming.js';
import { parseJson } from '../../json/json.js';
import type { BodyReading } from '../body.js';

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

/** The form in which a route takes items. */
export interface ItemsTarget<Item, Common> {
  /** The field of a JSON body that holds the items, and how many there may be. */
  readonly field: string;
  readonly maxItems: number;
  /** The further fields of a JSON body, which hold for all of its items. A stream has none. */
  readonly common: z.ZodType<Common>;
  /** The fields of an item. */
  readonly item: z.ZodType;
  /** @throws HttpError 422 for an item that is not as it should be */
  readonly parse: (value: unknown, common: Common) => Item;
  /** True if lines get a digest of their content. */
  readonly withDigests: boolean;
  /** Aborts when the service stops: the rest of a stream is then refused. */
  readonly stopping: AbortSignal;
  /** Aborts when the caller's token ends, or the client goes away. */
  readonly whileValid: AbortSignal;
}
