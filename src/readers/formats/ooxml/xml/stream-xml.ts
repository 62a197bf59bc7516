import { ShallowParser } from '../../shallow-parser.js';
import { tooLarge, type OfficeKind } from '../package/office-kind.js';
import { attribute } from '../../xml/read-markup.js';

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
  const branchOf = createBranches();
  const names: string[] = [];
  const tree = createTree(kind);
  const openElement = (rawName: string, rawAttributes: Record<string, string>): void => {
    onElement();
    const { name: written, attributes } = namespaces.open(rawName, rawAttributes);
    const name = branchOf(written, names);
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

/**
 * Names the first branch of each `mc:AlternateContent` `mc:Choice`, and the others `mc:Fallback`. Programs show one of them
 * (ECMA-376 part 3, 7.5), and each tells the same.
 */
function createBranches() {
  /** The alternatives that are open, by their depth, which have had their first branch. */
  const begun = new Set<number>();
  return (name: string, outer: readonly string[]): string => {
    if (name === 'mc:AlternateContent') begun.delete(outer.length + 1);
    if (outer.at(-1) !== 'mc:AlternateContent' || (name !== 'mc:Choice' && name !== 'mc:Fallback'))
      return name;
    if (begun.has(outer.length)) return 'mc:Fallback';
    begun.add(outer.length);
    return 'mc:Choice';
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

/** The usual prefix of each namespace, in the transitional variant (ECMA-376) and in the strict one. */
const PREFIXES: ReadonlyMap<string, string> = new Map([
  ...both('wordprocessingml', 'w', 'main'),
  ...both('presentationml', 'p', 'main'),
  ...both('spreadsheetml', 'x', 'main'),
  ...both('drawingml', 'a', 'main'),
  ...both('drawingml', 'c', 'chart'),
  ...both('drawingml', 'dgm', 'diagram'),
  ...both('drawingml', 'wp', 'wordprocessingDrawing'),
  ...both('drawingml', 'xdr', 'spreadsheetDrawing'),
  ...both('drawingml', 'pic', 'picture'),
  ...both('officeDocument', 'r', 'relationships'),
  ...both('officeDocument', 'm', 'math'),
  ['http://schemas.openxmlformats.org/markup-compatibility/2006', 'mc'],
  ['http://schemas.microsoft.com/office/spreadsheetml/2009/9/main', 'x14'],
  ['http://schemas.microsoft.com/office/excel/2006/main', 'xm'],
  ['http://schemas.openxmlformats.org/package/2006/relationships', ''],
  ['http://schemas.openxmlformats.org/package/2006/metadata/core-properties', 'cp'],
  ['http://purl.org/dc/elements/1.1/', 'dc'],
  ['http://schemas.microsoft.com/office/word/2010/wordml', 'w14'],
  ['http://schemas.microsoft.com/office/word/2015/wordml/symex', 'w16se'],
  ['http://schemas.microsoft.com/office/word/2010/wordprocessingShape', 'wps'],
  ['http://schemas.microsoft.com/office/word/2010/wordprocessingGroup', 'wpg'],
  ['http://schemas.microsoft.com/office/powerpoint/2018/8/main', 'p188'],
  ['urn:schemas-microsoft-com:vml', 'v'],
  ['urn:schemas-microsoft-com:office:office', 'o'],
]);

function both(language: string, prefix: string, name: string): [string, string][] {
  return [
    [`http://schemas.openxmlformats.org/${language}/2006/${name}`, prefix],
    [`http://purl.oclc.org/ooxml/${language}/${name}`, prefix],
  ];
}

/** A scope is copied where an element adds to it. */
const MAX_PREFIXES = 100;
const MAX_NAMES = 10_000;

type Attributes = Readonly<Record<string, string>>;
type Scope = ReadonlyMap<string, string>;

/** Gives elements and attributes the usual prefixes of their namespaces, whatever prefixes the file has chosen. */
function createNamespaces() {
  const scopes: { readonly depth: number; readonly before: Scope }[] = [];
  let scope: Scope = new Map();
  let isUsual = true;
  let depth = 0;
  let nameOf = createNaming(scope);
  const change = (next: Scope): void => {
    scope = next;
    isUsual = [...next].every(([prefix, usual]) => prefix === usual || prefix === '');
    nameOf = createNaming(next);
  };
  return {
    open(name: string, attributes: Attributes): { name: string; attributes: Attributes } {
      depth += 1;
      const next = declaredIn(attributes, scope);
      if (next !== scope) {
        scopes.push({ depth, before: scope });
        change(next);
      }
      return { name: nameOf(name), attributes: isUsual ? attributes : renamed(attributes, nameOf) };
    },
    close(): void {
      const last = scopes.at(-1);
      if (last?.depth === depth) {
        scopes.pop();
        change(last.before);
      }
      depth -= 1;
    },
  };
}

function createNaming(scope: Scope): (name: string) => string {
  const names = new Map<string, string>();
  return (name) => {
    const known = names.get(name);
    if (known !== undefined) return known;
    const colon = name.indexOf(':');
    const prefix = name.slice(0, Math.max(0, colon));
    const usual = scope.get(prefix) ?? prefix;
    const named = usual === '' ? name.slice(colon + 1) : `${usual}:${name.slice(colon + 1)}`;
    if (names.size < MAX_NAMES) names.set(name, named);
    return named;
  };
}

function declaredIn(attributes: Attributes, scope: Scope): Scope {
  let next: Map<string, string> | undefined;
  for (const name in attributes) {
    if (!name.startsWith('xmlns')) continue;
    const prefix = name.slice(6);
    const usual = PREFIXES.get(attribute(attributes, name)) ?? prefix;
    if ((scope.get(prefix) ?? prefix) === usual) continue;
    next ??= new Map(scope);
    if (next.size < MAX_PREFIXES) next.set(prefix, usual);
  }
  return next ?? scope;
}

/** An attribute without a prefix has no namespace. */
function renamed(attributes: Attributes, nameOf: (name: string) => string): Attributes {
  const entries = Object.entries(attributes);
  return Object.fromEntries(
    entries.map(([name, value]) => [name.includes(':') ? nameOf(name) : name, value] as const),
  );
}
