import { childrenOf } from './elements.js';
import type { XmlElement, XmlEvent } from './stream-xml.js';

/** Passes the content of a tree as a stream passes the content of a file. */
export function* treeEvents(
  { children }: Pick<XmlElement, 'children'>,
  isWhole: (name: string) => boolean,
): Generator<XmlEvent, undefined> {
  for (const element of childrenOf({ name: '', attributes: {}, children })) {
    if (isWhole(element.name)) yield { type: 'element', element };
    else {
      yield { type: 'open', name: element.name, attributes: element.attributes };
      yield* treeEvents(element, isWhole);
      yield { type: 'close', name: element.name };
    }
  }
  return undefined;
}
