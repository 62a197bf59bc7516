import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { AppError, TryLaterError, UnavailableError } from '../../../../shared/errors.js';
import { nextSlice } from '../../../../shared/tools/time-slices.js';
import type { IncomingGroups, IncomingItem } from '../../../services/ingest/incoming-items.js';
import { liftRequestTime } from '../../connections/request-time.js';
import { HttpError } from '../../http-error.js';
import { parseJson } from '../../json/json.js';
import { parseRequest } from '../../validation/parse-request.js';
import { ClientGoneError, mediaTypeOf, type BodyReading } from '../body.js';
import { BodyStream } from './body-stream.js';
import { LineSplitter, type Line } from './line-splitter.js';
import { findListElements } from './list-elements.js';

export const NDJSON = 'application/x-ndjson';

export const isNdjson = (request: IncomingMessage): boolean => mediaTypeOf(request) === NDJSON;

export interface ReceivedItems<Item> {
  /** Whether the items are the lines of a stream, which may be long: then they are answered while they arrive. */
  readonly isStream: boolean;
  readonly groups: IncomingGroups<Item>;
}

export interface ItemsTarget<Item, Common> {
  /** The field of a JSON body that holds the items, and how many there may be. */
  readonly field: string;
  readonly maxItems: number;
  /** What else a JSON body says, which holds for all of its items. A stream says nothing. */
  readonly common: z.ZodType<Common>;
  /** @throws HttpError 422 for an item that is not as it should be */
  readonly parse: (value: unknown, common: Common) => Item;
  /** Whether lines get a digest of what they are. */
  readonly withDigests: boolean;
  /** Aborts when the service stops: what is left of a stream is then refused. */
  readonly stopping: AbortSignal;
}

/**
 * Reads the items of a JSON body, or of a stream of lines of JSON. An item that is wrong is passed on with its error.
 * @throws HttpError 422 for a JSON body that is wrong as a whole; ClientGoneError
 */
export type ReceiveItems = <Item, Common>(target: ItemsTarget<Item, Common>) => Promise<ReceivedItems<Item>>;

/** Items that are handled together: enough that a round trip for each group costs little for each item. */
const GROUP_ITEMS = 128;
/** Larger ones are parsed in a thread. */
const SMALL_BYTES = 256 * 1024;

/** @param bytes the body in JSON; null for a stream of lines */
export function createItemsReceiver(
  request: IncomingMessage,
  bytes: Buffer | null,
  reading: BodyReading,
): ReceiveItems {
  return async (target) => {
    if (bytes === null) {
      liftRequestTime(request);
      reading.onReading();
      return { isStream: true, groups: groupLines(request, reading, target) };
    }
    return { isStream: false, groups: await groupElements(bytes, reading, target) };
  };
}

/** Parses items one by one. A large one is parsed elsewhere, and small ones leave time to others. */
function createParser<Item>({ readJson }: BodyReading, parse: (value: unknown) => Item) {
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

async function groupElements<Item, Common>(
  bytes: Buffer,
  reading: BodyReading,
  { field, maxItems, common: schema, parse }: ItemsTarget<Item, Common>,
): Promise<IncomingGroups<Item>> {
  const { rest, elements } = await findListElements(bytes, field, maxItems);
  const value = bytes.length === 0 ? undefined : await reading.readJson(rest);
  parseRequest(z.object({ [field]: z.array(z.unknown()) }), value, 'body');
  const common = parseRequest(schema, value, 'body');
  if (elements.length > maxItems) throw tooMany(field, maxItems);
  const parser = createParser(reading, (element) => parse(element, common));
  return (async function* () {
    for (let first = 0; first < elements.length; first += GROUP_ITEMS) {
      const group: IncomingItem<Item>[] = [];
      for (const [i, { start, end }] of elements.slice(first, first + GROUP_ITEMS).entries())
        group.push(await parser(first + i, bytes.subarray(start, end)));
      yield group;
    }
  })();
}

function tooMany(field: string, max: number): HttpError {
  const msg = `ensure this value has at most ${String(max)} items`;
  const item = { loc: ['body', field], msg, type: 'value_error.list.max_items', ctx: { limit_value: max } };
  return new HttpError(422, [item]);
}

/** The stream is read while nothing is done with a group, up to 64 KiB; then the client has to wait. */
async function* groupLines<Item, Common>(
  request: IncomingMessage,
  reading: BodyReading,
  target: ItemsTarget<Item, Common>,
): AsyncGenerator<readonly IncomingItem<Item>[]> {
  const { claim, maxBytes, graceSeconds } = reading;
  // This may throw, and so comes first.
  const lines = new LineSplitter({ maxLineBytes: maxBytes, claim });
  const stream = new BodyStream(request, graceSeconds);
  const stop = () => {
    stream.end(new TryLaterError('The service is stopping', { retryAfterSeconds: 2 }));
  };
  const giveWay = () => {
    stream.end(new HttpError(408, 'The request body comes too slowly while others need the memory'));
  };
  const stopReading = claim.whileReading(giveWay);
  target.stopping.addEventListener('abort', stop, { once: true });
  if (target.stopping.aborted) stop();
  const common = parseRequest(target.common, {}, 'body');
  const parseLine = createParser(reading, (value) => target.parse(value, common));
  const parser: ParseItem<Item> = async (index, bytes) => {
    // A large line is parsed elsewhere, and its bytes are gone then.
    const digest = target.withDigests ? createHash('sha256').update(bytes).digest('base64url') : undefined;
    return { ...(await parseLine(index, bytes)), digest };
  };
  try {
    for (let bytes = await stream.next(); bytes; bytes = await stream.next()) {
      // What has arrived may be thirty thousand lines.
      await nextSlice();
      yield* inGroups(lines.push(bytes), parser);
      lines.giveBack();
    }
    yield* inGroups(lines.finish(), parser);
  } catch (error) {
    // The client has been told nothing of the lines after this one.
    if (!(error instanceof AppError) || error instanceof ClientGoneError) throw error;
    yield [{ index: lines.next, error }];
  } finally {
    stopReading();
    target.stopping.removeEventListener('abort', stop);
    stream.close();
  }
}

type ParseItem<Item> = (index: number, bytes: Buffer) => Promise<IncomingItem<Item>>;

async function* inGroups<Item>(
  lines: readonly Line[],
  parser: ParseItem<Item>,
): AsyncGenerator<readonly IncomingItem<Item>[]> {
  for (let first = 0; first < lines.length; first += GROUP_ITEMS) {
    const group: IncomingItem<Item>[] = [];
    for (const { number, bytes, error } of lines.slice(first, first + GROUP_ITEMS))
      group.push(bytes ? await parser(number, bytes) : { index: number, error });
    yield group;
  }
}
