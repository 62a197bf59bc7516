import type { z } from 'zod';
import type { StreamedText } from '../../services/documents/source-text.js';

/** The response that a route declares for a status: the schema of its JSON body, or another kind of response. */
export type ResponseShape = z.ZodType | 'download' | 'png' | 'events' | 'empty';
export type Responses = Readonly<Record<number, ResponseShape>>;

interface Headers {
  readonly headers?: Readonly<Record<string, string>>;
}

export interface JsonReply<Status, Body> extends Headers {
  readonly type: 'json';
  readonly status: Status;
  readonly body: Body;
  /** True if the same request may do more later, so that this answer is not remembered for an `Idempotency-Key`. */
  readonly isPassing?: boolean;
}

/** A JSON array that is written item by item, so that a large one never blocks the event loop. */
interface ItemsReply<Item> extends Headers {
  readonly type: 'items';
  readonly items: AsyncIterable<Item>;
}

/** The way in which a protocol of others sends events. */
export interface EventForm {
  /** The line of data that follows the last event. */
  readonly last?: string;
  /** True if each event has the value of its own field `type` as its name. */
  readonly areNamed?: boolean;
}

/** Server-sent events; each item becomes one `data:` line of JSON. */
interface EventsReply<Event> extends Headers {
  readonly type: 'events';
  readonly events: AsyncIterable<Event>;
  readonly form?: EventForm;
}

/** A stream of lines of JSON (NDJSON), which arrive in groups. */
interface LinesReply<Item> extends Headers {
  readonly type: 'lines';
  readonly status: number;
  readonly lines: AsyncIterable<readonly Item[]>;
}

interface Download {
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly sizeBytes: number;
  readonly contentType: string;
  readonly filename: string;
  /** True if it is to be shown, and not saved. */
  readonly isInline?: boolean;
}

interface DownloadReply extends Headers, Download {
  readonly type: 'download';
}

/** The answer of a protocol whose library serializes answers itself, with the status that the protocol gives it. */
interface MessageReply extends Headers {
  readonly type: 'message';
  readonly status: number;
  /** JSON; empty for an answer without a body. */
  readonly text: string;
}

/** Any reply that can be sent. */
export type ApiReply =
  | JsonReply<number, unknown>
  | MessageReply
  | ItemsReply<unknown>
  | EventsReply<unknown>
  | LinesReply<unknown>
  | DownloadReply;

/** A reply that is still waited for, although the request's body is no longer needed and its memory can be released. */
export interface PendingReply<Reply = ApiReply> {
  readonly type: 'pending';
  /** Memory that the wait holds. */
  readonly heldBytes: number;
  /** Must not reference any part of the request's body. */
  readonly settled: Promise<Reply>;
}

type JsonStatus<Declared extends Responses> = {
  [Status in keyof Declared]: Declared[Status] extends z.ZodType ? Status : never;
}[keyof Declared] &
  number;

type BodyOf<Declared extends Responses, Status extends keyof Declared> = Declared[Status] extends z.ZodType
  ? z.output<Declared[Status]>
  : never;

/** The type of an item whose long strings may be sent in parts. */
export type Streamed<Value> = string extends Value
  ? Value | StreamedText
  : Value extends object
    ? { [Key in keyof Value]: Streamed<Value[Key]> }
    : Value;

type ItemOf<Declared extends Responses> = Declared extends { readonly 200: z.ZodArray<infer Item> }
  ? Streamed<z.output<Item>>
  : never;

/** JSON replies with one of `Statuses`, by default with any declared status. */
type JsonReplies<Declared extends Responses, Statuses extends JsonStatus<Declared> = JsonStatus<Declared>> = {
  [Status in Statuses]: JsonReply<Status, BodyOf<Declared, Status>>;
}[Statuses];

/** Exactly the replies that a route with these responses and events may send. */
export type DeclaredReply<Declared extends Responses, Events extends z.ZodType = never> =
  | JsonReplies<Declared>
  | ([ItemOf<Declared>] extends [never] ? never : ItemsReply<ItemOf<Declared>>)
  | ([ItemOf<Declared>] extends [never] ? never : LinesReply<ItemOf<Declared>>)
  | ([Events] extends [never] ? never : EventsReply<z.output<Events>>)
  | (Declared extends { readonly 200: 'download' | 'png' } ? DownloadReply : never)
  | (Declared extends { readonly 202: 'empty' } ? MessageReply : never);

/** A result that is waited for, and the memory that it holds meanwhile. */
interface Waiting<Value> {
  readonly heldBytes: number;
  readonly settled: Promise<Value>;
}

/** Makes the replies of a route that declares these responses. */
export interface Replies<Declared extends Responses, Events extends z.ZodType = never> {
  json<Status extends JsonStatus<Declared>>(
    status: Status,
    body: BodyOf<Declared, Status>,
    headers?: Readonly<Record<string, string>>,
  ): JsonReplies<Declared, Status>;
  /** A JSON array; `view` converts each item when it is sent. */
  items<Item>(
    items: AsyncIterable<Item>,
    view: (item: Item) => ItemOf<Declared>,
    headers?: Readonly<Record<string, string>>,
  ): ItemsReply<ItemOf<Declared>>;
  /** Lines of JSON, each an item of the declared list. */
  lines(
    status: JsonStatus<Declared>,
    lines: AsyncIterable<readonly ItemOf<Declared>[]>,
    headers?: Readonly<Record<string, string>>,
  ): LinesReply<ItemOf<Declared>>;
  events<Event>(
    events: AsyncIterable<Event>,
    view: (event: Event) => z.output<Events>,
    headers?: Readonly<Record<string, string>>,
    form?: EventForm,
  ): EventsReply<z.output<Events>>;
  /** For routes of protocols, which declare an empty 202. */
  message(
    status: number,
    text: string,
    headers?: Readonly<Record<string, string>>,
  ): Declared extends { readonly 202: 'empty' } ? MessageReply : never;
  /** `view` must not reference any part of the request's body. */
  pending<Value>(
    waiting: Waiting<Value>,
    view: (value: Value) => DeclaredReply<Declared, Events>,
  ): PendingReply<DeclaredReply<Declared, Events>>;
}

/** Makes replies. Each route sees it as `Replies` of the responses that the route declares. */
export const reply = {
  json: (
    status: number,
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): JsonReply<number, unknown> => ({ type: 'json', status, body, headers }),
  items: <Item>(
    items: AsyncIterable<Item>,
    view: (item: Item) => unknown,
    headers: Readonly<Record<string, string>> = {},
  ): ItemsReply<unknown> => ({ type: 'items', items: mapIterable(items, view), headers }),
  lines: (
    status: number,
    lines: AsyncIterable<readonly unknown[]>,
    headers: Readonly<Record<string, string>> = {},
  ): LinesReply<unknown> => ({ type: 'lines', status, lines, headers }),
  events: <Event>(
    events: AsyncIterable<Event>,
    view: (event: Event) => unknown,
    headers: Readonly<Record<string, string>> = {},
    form: EventForm = {},
  ): EventsReply<unknown> => ({ type: 'events', events: mapIterable(events, view), headers, form }),
  message: (status: number, text: string, headers: Readonly<Record<string, string>> = {}): MessageReply => ({
    type: 'message',
    status,
    text,
    headers,
  }),
  pending: <Value>(
    { heldBytes, settled }: Waiting<Value>,
    view: (value: Value) => ApiReply,
  ): PendingReply => ({
    type: 'pending',
    heldBytes,
    settled: settled.then(view),
  }),
};

/**
 * Stops reading an iterator and passes `reason` on to its producer.
 * @throws an error of the producer instead of `reason`
 */
export async function abandonIterator(iterator: AsyncIterator<unknown>, reason: unknown): Promise<void> {
  if (!iterator.throw) {
    await iterator.return?.();
    return;
  }
  try {
    await iterator.throw(reason);
  } catch (error) {
    // A generator that does not catch the reason rethrows it.
    if (error !== reason) throw error;
  }
}

/** Applies `change` to each item. Abandoning the result abandons `items`, even before the first item was read. */
export function mapIterable<Item, Changed>(
  items: AsyncIterable<Item>,
  change: (item: Item) => Changed,
): AsyncIterable<Changed> {
  const iterator = items[Symbol.asyncIterator]();
  const done = { done: true, value: undefined } as const;
  const changed: AsyncIterator<Changed> = {
    next: async () => {
      const item = await iterator.next();
      return item.done === true ? done : { done: false, value: change(item.value) };
    },
    return: async () => {
      await iterator.return?.();
      return done;
    },
    throw: async (reason: unknown) => {
      await abandonIterator(iterator, reason);
      return done;
    },
  };
  return { [Symbol.asyncIterator]: () => changed };
}
