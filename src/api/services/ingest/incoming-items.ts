/** One of many items of a request: its content, or the reason why it is refused. `index` is its place in the request. */
export type IncomingItem<Item> = {
  readonly index: number;
  /** The digest that a line of a stream with an `Idempotency-Key` is compared by. */
  readonly digest?: string | undefined;
} & ({ readonly item: Item; readonly error?: never } | { readonly error: unknown; readonly item?: never });

/** Items in their order, in groups that are handled together. */
export type IncomingGroups<Item> = AsyncIterable<readonly IncomingItem<Item>[]>;
