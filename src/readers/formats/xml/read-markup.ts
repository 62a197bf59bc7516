import { ShallowParser } from '../shallow-parser.js';
import { decodeXml } from './decode-xml.js';

export type Attributes = Readonly<Record<string, string>>;

/** The value of the first of these attributes that is written. One that is not written says the same as an empty one. */
export function attribute(attributes: Attributes | undefined, ...names: readonly string[]): string {
  for (const name of names) {
    const value = attributes?.[name];
    if (value !== undefined) return value;
  }
  return '';
}

/** Takes the parts of markup, in its order. Each element that is opened is closed. */
export interface MarkupHandler {
  open(name: string, attributes: Attributes): void;
  close(name: string): void;
  text(text: string): void;
  /** Told when the markup ends while elements are open, before these are closed. */
  cut?(): void;
}

const NOTHING: ReadonlySet<string> = new Set();

/** Reads XML as a stream. @param take returns the items that the handler has made since the last call */
export function readMarkup<Item>(
  pieces: Iterable<Uint8Array>,
  handler: MarkupHandler,
  take: () => Iterable<Item>,
): Iterable<Item> {
  return readMarkupText(decodeXml(pieces), handler, take);
}

/** As `readMarkup`. Entities that a document declares are not expanded, so that they cannot multiply. */
export function* readMarkupText<Item>(
  texts: Iterable<string>,
  handler: MarkupHandler,
  take: () => Iterable<Item>,
): Iterable<Item> {
  let depth = 0;
  const parser = new ShallowParser(
    {
      onopentag: (name, attributes) => {
        depth += 1;
        handler.open(name, attributes);
      },
      onclosetag: (name) => {
        depth -= 1;
        handler.close(name);
      },
      ontext: (text) => handler.text(text),
    },
    { xmlMode: true, decodeEntities: true, dropped: NOTHING },
  );
  for (const text of texts) {
    parser.write(text);
    yield* take();
  }
  if (depth > 0) handler.cut?.();
  parser.end();
  yield* take();
}

/** Reads XML whose handler keeps its findings. */
export function scanMarkup(pieces: Iterable<Uint8Array>, handler: MarkupHandler): void {
  Array.from(readMarkup(pieces, handler, () => []));
}
