import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { nextOwnTurn } from '../../../../shared/tools/time-slices.js';
import type { IncomingGroups, IncomingItem } from '../../../services/ingest/incoming.js';
import { liftRequestTime, mediaTypeOf, type BodyReading } from '../body.js';
import { HttpError, tooManyItems } from '../../http-error.js';
import { invalidJson } from '../../json/json.js';
import { parseInto, parseRequest } from '../../validation/validation-errors.js';
import { groupLines } from './group-lines.js';
import { createParser, GROUP_ITEMS, type ItemsTarget } from './parse-items.js';

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
  if (elements.length > maxItems) throw tooManyItems(field, maxItems);
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

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d];
/** Bytes that one turn of the event loop looks at, which takes about a millisecond. */
const SLICE_BYTES = 256 * 1024;
/** A key repeats only in a body that is made to do harm. */
const MAX_LISTS = 16;

/** The start and end of a value in a body. */
interface Span {
  readonly start: number;
  readonly end: number;
}

interface ListElements {
  /** The body without the elements of the list. It is valid JSON only if the body is, apart from its elements. */
  readonly rest: Buffer;
  /** The elements, unparsed: at most one more than was asked for. */
  readonly elements: readonly Span[];
}

/**
 * Finds the elements of the list `field` of an object in JSON (RFC 8259), so that each of them can be parsed by itself. The
 * last list counts of a key that is repeated, as in `JSON.parse`. Works in slices.
 * @throws HttpError 422 for an element that is missing, as between two commas
 */
export async function findListElements(bytes: Buffer, field: string, max: number): Promise<ListElements> {
  const scan = new ElementScan(bytes, field, max);
  while (scan.step()) await nextOwnTurn();
  return { rest: scan.rest(), elements: scan.elements };
}

class ElementScan {
  readonly #bytes: Buffer;
  readonly #field: string;
  readonly #max: number;
  /** The parts cut out of the body: the inside of each list of this name. */
  readonly #lists: Span[] = [];
  elements: Span[] = [];
  #at = 0;
  #depth = 0;
  #isInString = false;
  /** The last string that began at depth 1, and the key of the value that is being read there. */
  #string: Span = { start: 0, end: 0 };
  #key: Span | null = null;
  /** The start of the list that is being read; null outside of it. */
  #list: number | null = null;
  #element = 0;

  constructor(bytes: Buffer, field: string, max: number) {
    this.#bytes = bytes;
    this.#field = field;
    this.#max = max;
  }

  /** Looks at the next slice. Returns whether there is more. */
  step(): boolean {
    const end = Math.min(this.#bytes.length, this.#at + SLICE_BYTES);
    for (; this.#at < end; this.#at += 1) {
      const byte = this.#bytes[this.#at];
      if (this.#isInString) {
        if (byte === BACKSLASH) this.#at += 1;
        else if (byte === QUOTE) this.#endString();
      } else if (byte === QUOTE) {
        this.#isInString = true;
        if (this.#depth === 1) this.#string = { start: this.#at, end: this.#at };
      } else this.#look(byte);
    }
    return end < this.#bytes.length;
  }

  #endString(): void {
    this.#isInString = false;
    if (this.#depth === 1) this.#string = { start: this.#string.start, end: this.#at + 1 };
  }

  #look(byte: number | undefined): void {
    switch (byte) {
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        if (byte === OPEN_ARRAY && this.#depth === 1 && this.#isField()) this.#beginList();
        this.#depth += 1;
        break;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        this.#depth -= 1;
        if (this.#depth === 1 && this.#list !== null) this.#endList(this.#list);
        break;
      case COLON:
        if (this.#depth === 1) this.#key = this.#string;
        break;
      case COMMA:
        if (this.#depth === 1) this.#key = null;
        if (this.#depth === 2 && this.#list !== null) this.#endElement();
        break;
      case undefined:
        break;
    }
  }

  /** Tells whether the value that is being read at depth 1 belongs to the field. Its name may be written with escapes. */
  #isField(): boolean {
    if (!this.#key || this.#key.end - this.#key.start > 6 * this.#field.length + 2) return false;
    const written = this.#bytes.toString('utf8', this.#key.start, this.#key.end);
    if (!written.includes('\\')) return written === `"${this.#field}"`;
    try {
      return JSON.parse(written) === this.#field;
    } catch {
      // The rest of the body is parsed later, and refused for this key.
      return false;
    }
  }

  #beginList(): void {
    if (this.#lists.length === MAX_LISTS) throw invalidJson();
    this.elements = [];
    this.#list = this.#at + 1;
    this.#element = this.#at + 1;
  }

  #endElement(): void {
    if (this.elements.length > this.#max) return;
    if (isWhite(this.#bytes, this.#element, this.#at)) throw invalidJson();
    this.elements.push({ start: this.#element, end: this.#at });
    this.#element = this.#at + 1;
  }

  #endList(start: number): void {
    const isEmpty = this.elements.length === 0 && isWhite(this.#bytes, this.#element, this.#at);
    if (!isEmpty) this.#endElement();
    this.#lists.push({ start, end: this.#at });
    this.#list = null;
  }

  rest(): Buffer {
    const parts: Buffer[] = [];
    let from = 0;
    for (const { start, end } of this.#lists) {
      parts.push(this.#bytes.subarray(from, start));
      from = end;
    }
    return Buffer.concat([...parts, this.#bytes.subarray(from)]);
  }
}

function isWhite(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return false;
  }
  return true;
}
