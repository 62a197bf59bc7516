import { ShallowParser } from '../../shallow-parser.js';
import { tooLarge, type OfficeKind } from '../package/office-kind.js';
import { createNamespaces } from './namespaces.js';

/** Most elements that are open at once. */
const MAX_DEPTH = 500;
/** Most elements and texts of one tree, which take about 300 bytes each. */
const MAX_NODES = 1_500_000;
const NOTHING_DROPPED: ReadonlySet<string> = new Set();

/** An element with the usual prefix of its namespace, such as `w:p`. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: (XmlElement | string)[];
}

export type XmlEvent =
  | { readonly type: 'open'; readonly name: string; readonly attributes: XmlElement['attributes'] }
  | { readonly type: 'close'; readonly name: string }
  | { readonly type: 'element'; readonly element: XmlElement };

interface StreamOptions {
  readonly kind: OfficeKind;
  /** Tells whether an element comes as a tree when it is closed. Texts outside of trees are left out. */
  readonly isWhole: (name: string) => boolean;
  /** Called at the end when elements are still open. */
  readonly onCut: () => void;
  /** Called at the beginning of each element. */
  readonly onElement: () => void;
}

/** Reads XML as a stream, which holds no more than one tree in memory. @throws ReadError when it nests too deep */
export function* streamXml(texts: Iterable<string>, options: StreamOptions): Iterable<XmlEvent> {
  const events: XmlEvent[] = [];
  const builder = createBuilder(events, options);
  const parser = new ShallowParser(builder.handler, {
    xmlMode: true,
    decodeEntities: true,
    dropped: NOTHING_DROPPED,
  });
  for (const text of texts) {
    parser.write(text);
    if (events.length > 0) yield* events.splice(0);
  }
  if (builder.isOpen()) options.onCut();
  parser.end();
  yield* events;
}

function createBuilder(events: XmlEvent[], { kind, isWhole, onElement }: Omit<StreamOptions, 'onCut'>) {
  const namespaces = createNamespaces();
  const names: string[] = [];
  const tree = createTree(kind);
  const openElement = (rawName: string, rawAttributes: Record<string, string>): void => {
    onElement();
    const { name, attributes } = namespaces.open(rawName, rawAttributes);
    names.push(name);
    if (names.length > MAX_DEPTH) throw tooLarge(kind, `nests elements more than ${String(MAX_DEPTH)} deep`);
    if (tree.isOpen() || isWhole(name)) tree.open(name, attributes);
    else events.push({ type: 'open', name, attributes });
  };
  const closeElement = (): void => {
    namespaces.close();
    const name = names.pop() ?? '';
    if (!tree.isOpen()) events.push({ type: 'close', name });
    else {
      const element = tree.close();
      if (element) events.push({ type: 'element', element });
    }
  };
  return {
    isOpen: () => names.length > 0,
    handler: {
      onopentag: openElement,
      onclosetag: closeElement,
      ontext: (text: string) => tree.addText(text),
    },
  };
}

/** Builds one tree after the other. */
function createTree(kind: OfficeKind) {
  /** Open elements, from the outermost. */
  const open: XmlElement[] = [];
  let nodes = 0;
  const count = (): void => {
    nodes += 1;
    if (nodes > MAX_NODES)
      throw tooLarge(kind, `has a part of more than ${MAX_NODES.toLocaleString('en')} elements`);
  };
  return {
    isOpen: () => open.length > 0,
    open(name: string, attributes: XmlElement['attributes']): void {
      const element = { name, attributes, children: [] };
      count();
      open.at(-1)?.children.push(element);
      open.push(element);
    },
    /** Returns the tree when its outermost element is closed. */
    close(): XmlElement | undefined {
      const element = open.pop();
      if (open.length > 0) return undefined;
      nodes = 0;
      return element;
    },
    addText(text: string): void {
      const parent = open.at(-1);
      if (!parent) return;
      const last = parent.children.length - 1;
      const before = parent.children[last];
      // Entities divide a text.
      if (typeof before === 'string') parent.children[last] = before + text;
      else {
        count();
        parent.children.push(text);
      }
    },
  };
}
