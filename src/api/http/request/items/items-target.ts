import type { z } from 'zod';

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
