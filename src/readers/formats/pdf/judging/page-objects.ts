import { firstGroup } from '../../../blocks/matches.js';
import { isEncrypted, streamsOf } from './streams.js';

/** Numbers of objects of a file, or `any` where all may be meant. */
export type Objects = ReadonlySet<number> | 'any';

/** A file with more objects is not looked through, nor is a page that uses more. */
const MAX_OBJECTS = 500_000;
const MAX_USED = 3_000;
/** Entries of a page that lead to other pages, and to annotations. */
const ELSEWHERE = /\/(?:Parent|Kids|Annots|B|Dest)\s{0,9}(?:\[[^\]]*\]|\d+\s+\d+\s+R)/g;
const REFERENCE = /(?<!\d)(\d{1,10})\s+\d{1,5}\s+R(?![A-Za-z])/g;
const PARENT = /\/Parent\s{0,9}(\d{1,10})\s/;
/** A font that composite fonts are made of. */
const COMPOSED_OF = /\/Subtype\s{0,9}\/CIDFontType[02](?![A-Za-z])/;
const FONT_NAME = /\/BaseFont\s{0,9}\/([^\s/<>[\]()]{1,100})/;
const TREE = /\/Type\s{0,9}\/(?:Pages?|Catalog|StructTreeRoot|StructElem)(?![A-Za-z])/;

interface Wanted {
  readonly objects: Objects;
  /** The entries of an object's dictionary. */
  readonly names?: readonly string[];
}

/**
 * Knows which objects each page of a file uses: its contents, fonts and forms. Repeated definitions of an object count
 * together, so that a page may be taken to use more than it does.
 */
export function createPageObjects(bytes: Uint8Array) {
  let read: ReturnType<typeof createGraph> | undefined;
  return {
    /** Tells whether a page, by the number of its object, may use one of these objects, or one whose dictionary says a name. */
    mayUse(page: number | undefined, { objects, names = [] }: Wanted): boolean {
      if (objects === 'any') return true;
      if (objects.size === 0 && names.length === 0) return false;
      read ??= createGraph(objectsOf(bytes));
      const used = page === undefined ? undefined : usedBy(page, read);
      if (!used) return true;
      for (const [number, { text }] of used)
        if (objects.has(number) || names.some((name) => text.includes(name))) return true;
      return false;
    },
    /** Tells whether a page, by the number of its object, uses one of these objects; undefined where that cannot be told. */
    uses(page: number | undefined, objects: ReadonlySet<number>): boolean | undefined {
      read ??= createGraph(objectsOf(bytes));
      const used = page === undefined ? undefined : usedBy(page, read);
      return used && [...objects].some((object) => used.has(object));
    },
    /** The names of composite fonts of a page that are not in the file; undefined where that cannot be told. */
    fontsWithoutFile(page: number | undefined): ReadonlySet<string> | undefined {
      read ??= createGraph(objectsOf(bytes));
      const used = page === undefined ? undefined : usedBy(page, read);
      return used && new Set([...used.values()].flatMap((node) => fontWithoutFile(node, used)));
    },
  };
}

/** The name of a font that composite fonts are made of, if neither it nor its description leads to a file (ISO 32000-1, 9.7.4). */
function fontWithoutFile({ text, references }: Node, used: ReadonlyMap<number, Node>): string[] {
  if (!COMPOSED_OF.test(text)) return [];
  const texts = [text, ...references.map((to) => used.get(to)?.text ?? '')];
  if (texts.some((each) => each.includes('/FontFile'))) return [];
  return [firstGroup(FONT_NAME, text)];
}

interface Node {
  /** All that is said of the object. */
  readonly text: string;
  /** The numbers of the objects to which it leads. */
  readonly references: readonly number[];
}

/** The objects of a file, each taken apart when it is asked for first. */
function createGraph(objects: ReadonlyMap<number, readonly Buffer[]>) {
  const nodes = new Map<number, Node>();
  return (number: number): Node | undefined => {
    const known = nodes.get(number);
    const parts = objects.get(number);
    if (known || !parts) return known;
    const text = parts.map((part) => part.toString('latin1')).join(' ');
    const references = [...text.replace(ELSEWHERE, ' ').matchAll(REFERENCE)].map(([, to]) => Number(to));
    const node = { text, references };
    nodes.set(number, node);
    return node;
  };
}

/** The objects that a page uses, by their numbers; undefined where that cannot be told. */
function usedBy(
  page: number,
  nodeOf: (number: number) => Node | undefined,
): ReadonlyMap<number, Node> | undefined {
  const used = new Map<number, Node>();
  const own = nodeOf(page);
  if (!own?.text.includes('/Contents')) return undefined;
  const next = [...own.references, ...inheritedBy(own, nodeOf)];
  for (let number = next.pop(); number !== undefined; number = next.pop()) {
    if (used.has(number)) continue;
    const node = nodeOf(number);
    if (!node || used.size >= MAX_USED) return undefined;
    if (TREE.test(node.text)) continue;
    used.set(number, node);
    next.push(...node.references);
  }
  return used.set(page, own);
}

/** Returns the objects to which the nodes above a page lead, such as the fonts of all their pages. */
function inheritedBy(page: Node, nodeOf: (number: number) => Node | undefined): number[] {
  const inherited: number[] = [];
  const seen = new Set<Node>([page]);
  for (let node = parentOf(page, nodeOf); node && !seen.has(node); node = parentOf(node, nodeOf)) {
    seen.add(node);
    inherited.push(...node.references);
  }
  return inherited;
}

function parentOf({ text }: Node, nodeOf: (number: number) => Node | undefined): Node | undefined {
  const parent = PARENT.exec(text)?.[1];
  return parent === undefined ? undefined : nodeOf(Number(parent));
}

/** The dictionaries of a file by the numbers of their objects, older ones among them; none where they cannot be found. */
function objectsOf(bytes: Uint8Array): ReadonlyMap<number, readonly Buffer[]> {
  const found = new Map<number, Buffer[]>();
  const none = new Map<number, Buffer[]>();
  if (isEncrypted(bytes)) return none;
  const add = (number: number, text: Buffer): void => {
    const known = found.get(number);
    if (known) known.push(text);
    else found.set(number, [text]);
  };
  for (const [number, text] of plainObjects(bytes)) add(number, text);
  for (const { content, entries } of streamsOf(bytes, 'objects')) {
    const packed = typeof content === 'string' ? undefined : packedObjects(content, entries);
    if (!packed || found.size > MAX_OBJECTS) return none;
    for (const [number, text] of packed) add(number, text);
  }
  return found;
}

function* plainObjects(bytes: Uint8Array): Iterable<readonly [number, Buffer]> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let [stream, end] = [-1, -1];
  for (let at = file.indexOf(' obj'); at >= 0; at = file.indexOf(' obj', at + 4)) {
    const number = /(?:^|\D)(\d{1,10})\s+\d{1,5}$/.exec(
      file.toString('latin1', Math.max(0, at - 20), at),
    )?.[1];
    if (number === undefined) continue;
    const start = at + 4;
    if (stream < start) stream = orEnd(file.indexOf('stream', start), file);
    if (end < start) end = orEnd(file.indexOf('endobj', start), file);
    yield [Number(number), file.subarray(start, Math.min(stream, end))];
    if (stream < end) at = orEnd(file.indexOf('endstream', stream), file);
  }
}

const orEnd = (at: number, { length }: Buffer): number => (at < 0 ? length : at);

/** Returns the objects of a stream of objects (ISO 32000-1, 7.5.7): numbers and places, then their content. */
function packedObjects(content: Buffer, entries: string): (readonly [number, Buffer])[] | undefined {
  const [count, first] = [/\/N\s{0,9}(\d{1,7})/, /\/First\s{0,9}(\d{1,9})/].map((entry) =>
    Number(entry.exec(entries)?.[1]),
  );
  if (count === undefined || first === undefined || Number.isNaN(count + first)) return undefined;
  const numbers = content.toString('latin1', 0, first).trim().split(/\s+/).map(Number);
  return Array.from({ length: Math.min(count, numbers.length / 2) }, (_, at) => {
    const [number = -1, from = 0, , to = content.length] = numbers.slice(2 * at, 2 * at + 4);
    return [number, content.subarray(first + from, first + to)] as const;
  });
}
