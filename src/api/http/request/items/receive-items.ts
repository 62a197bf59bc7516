import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { IncomingGroups, IncomingItem } from '../../../services/ingest/incoming-items.js';
import { liftRequestTime } from '../../connections/request-time.js';
import { HttpError } from '../../http-error.js';
import { parseInto, parseRequest } from '../../validation/parse-request.js';
import { mediaTypeOf, type BodyReading } from '../body.js';
import { groupLines } from './group-lines.js';
import type { ItemsTarget } from './items-target.js';
import { findListElements } from './list-elements.js';
import { createParser, GROUP_ITEMS } from './parse-items.js';

export const NDJSON = 'application/x-ndjson';

export const isNdjson = (request: IncomingMessage): boolean => mediaTypeOf(request) === NDJSON;

export interface ReceivedItems<Item> {
  /** True if the items are the lines of a stream, which may be long: then they are answered while they arrive. */
  readonly isStream: boolean;
  readonly groups: IncomingGroups<Item>;
}

/**
 * Reads the items of a JSON body, or of a stream of lines of JSON. An item that is wrong is passed on with its error.
 * @throws HttpError 422 for a JSON body that is wrong as a whole; ClientGoneError
 */
export type ReceiveItems = <Item, Common>(target: ItemsTarget<Item, Common>) => Promise<ReceivedItems<Item>>;

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

/** Parses the elements of the list in a JSON body, in groups. */
async function groupElements<Item, Common>(
  bytes: Buffer,
  reading: BodyReading,
  target: ItemsTarget<Item, Common>,
): Promise<IncomingGroups<Item>> {
  const { field, maxItems, common: schema } = target;
  const { rest, elements } = await findListElements(bytes, field, maxItems);
  const value = bytes.length === 0 ? undefined : await reading.readJson(rest);
  const failures = reading.ignored.check(withField(schema, field), value, 'body');
  parseInto(failures)(z.object({ [field]: z.array(z.unknown()) }), value, 'body');
  if (failures.length > 0) throw new HttpError(422, failures);
  const common = parseRequest(schema, value, 'body');
  if (elements.length > maxItems) throw tooMany(field, maxItems);
  const parser = createParser(reading, target, { common, list: field });
  return (async function* () {
    for (let first = 0; first < elements.length; first += GROUP_ITEMS) {
      const group: IncomingItem<Item>[] = [];
      for (const [i, { start, end }] of elements.slice(first, first + GROUP_ITEMS).entries())
        group.push(await parser(first + i, bytes.subarray(start, end)));
      yield group;
    }
  })();
}

/** Makes the schema of a body: the list of its items and the fields beside it. */
const withField = (common: z.ZodType, field: string): z.ZodObject =>
  z.object({ ...(common instanceof z.ZodObject ? common.shape : {}), [field]: z.unknown() });

function tooMany(field: string, max: number): HttpError {
  const msg = `ensure this value has at most ${String(max)} items`;
  const item = { loc: ['body', field], msg, type: 'value_error.list.max_items', ctx: { limit_value: max } };
  return new HttpError(422, [item]);
}
