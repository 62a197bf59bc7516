import type { z } from 'zod';

/** What a route takes items for. */
export interface ItemsTarget<Item, Common> {
  /** The field of a JSON body that holds the items, and how many there may be. */
  readonly field: string;
  readonly maxItems: number;
  /** What else a JSON body says, which holds for all of its items. A stream says nothing. */
  readonly common: z.ZodType<Common>;
  /** What an item may have. */
  readonly item: z.ZodType;
  /** @throws HttpError 422 for an item that is not as it should be */
  readonly parse: (value: unknown, common: Common) => Item;
  /** Whether lines get a digest of what they are. */
  readonly withDigests: boolean;
  /** Aborts when the service stops: what is left of a stream is then refused. */
  readonly stopping: AbortSignal;
  /** Aborts when the caller's token ends, or the client goes away. */
  readonly whileValid: AbortSignal;
}
