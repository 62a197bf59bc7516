import { extensionOf } from '../../../detection/formats.js';
import type { ReadContext } from '../../../parser.js';
import { ReadError } from '../../../read-error.js';
import { decodeXml } from '../../xml/decode-xml.js';
import { memberPath } from '../../zip/member-path.js';
import { openZip } from '../../zip/zip.js';
import { childrenOf } from '../xml/elements.js';
import { streamXml, type XmlElement, type XmlEvent } from '../xml/stream-xml.js';
import { createElementCount, type OfficeKind } from './office-kind.js';

const LIMIT_BYTES = 256 * 1024 * 1024;

/** The parts of an office package (ECMA-376 part 2), which are read when they are asked for. Names ignore upper case. */
export interface OfficePackage {
  readonly kind: OfficeKind;
  /** The names of all parts, in lower case. */
  readonly names: readonly string[];
  /** The part that the relations of the package name as its document. */
  readonly mainPart: string;
  has(part: string): boolean;
  /**
   * Tells whether a pattern finds something of at most 200 characters in the XML of a part, which is quicker than reading
   * it.
   */
  mentions(part: string, pattern: RegExp): boolean;
  /** The bytes of a part, such as a picture; undefined when it is missing, damaged or longer than `most`. */
  bytes(part: string, most: number): Uint8Array | undefined;
  /** The XML of a part: elements for which `isWhole` come as trees, all others as events. */
  stream(part: string, isWhole: (name: string) => boolean): Iterable<XmlEvent>;
  /** The whole tree of a part; undefined when there is none. */
  tree(part: string): XmlElement | undefined;
  /** Returns the relations of a part to other parts of the package. */
  relations(part: string): readonly Relation[];
  /** Tells whether a part could not be read to its end. Such parts are in the receipt; the main part must be whole. */
  isDamaged(): boolean;
}

/**
 * @param limitBytes most bytes that the parts which are read have after decompression
 * @throws ReadError when the bytes are no package, or an encrypted one
 */
export function openPackage(
  bytes: Uint8Array,
  kind: OfficeKind,
  context: ReadContext,
  limitBytes = LIMIT_BYTES,
): OfficePackage {
  refuseCompound(bytes, kind, context.filename);
  const what = `${kind.application} file`;
  const zip = openZip(bytes, { limitBytes, what, receipt: context.receipt, ignoresCase: true });
  const relationsOf = new Map<string, readonly Relation[]>();
  const damage = createDamage(context);
  const onElement = createElementCount(kind);
  const office: Omit<OfficePackage, 'mainPart'> = {
    kind,
    names: zip.names,
    isDamaged: damage.isFound,
    has: (part) => zip.has(part),
    mentions: (part, pattern) => damage.survive(part, () => isFoundIn(zip.pieces(part), pattern)) ?? false,
    bytes: (part, most) => damage.survive(part, () => zip.read(part, most)),
    *stream(part, isWhole) {
      const onCut = (): void => damage.note(part, 'ends too early');
      try {
        yield* streamXml(decodeXml(zip.pieces(part)), { kind, isWhole, onCut, onElement });
      } catch (error) {
        damage.survive(part, () => {
          throw error;
        });
      }
    },
    tree: (part) => (zip.has(part) ? rootOf(office.stream(part, () => true)) : undefined),
    relations(part) {
      const known = relationsOf.get(part) ?? readRelations(office, part);
      relationsOf.set(part, known);
      return known;
    },
  };
  const mainPart = findMainPart(office);
  damage.forbid(mainPart);
  return { ...office, mainPart };
}

function rootOf(stream: Iterable<XmlEvent>): XmlElement | undefined {
  // It is read to its end, which tells whether it is whole.
  const events = [...stream];
  return events.find((event) => event.type === 'element')?.element;
}

/** Notes which parts are damaged, and goes on without them. */
function createDamage({ receipt }: ReadContext) {
  const damagedParts = new Set<string>();
  let forbidden: string | undefined;
  const note = (part: string, what: string): void => {
    if (!damagedParts.has(part)) receipt.addGap('unreadable', `The part ${part} ${what}.`);
    damagedParts.add(part);
  };
  return {
    note,
    isFound: () => damagedParts.size > 0,
    /** A part without which nothing can be read. */
    forbid(part: string): void {
      forbidden = part;
    },
    survive<Result>(part: string, read: () => Result): Result | undefined {
      try {
        return read();
      } catch (error) {
        const isDamage = error instanceof ReadError && error.code === 'corrupt';
        if (!isDamage || part === forbidden) throw error;
        note(part, 'is damaged');
        return undefined;
      }
    },
  };
}

/** Most characters in which a pattern is found. */
const MAX_MATCH_LENGTH = 200;

function isFoundIn(pieces: Iterable<Uint8Array>, pattern: RegExp): boolean {
  let end = '';
  for (const piece of decodeXml(pieces)) {
    const text = end + piece;
    if (pattern.test(text)) return true;
    end = text.slice(-MAX_MATCH_LENGTH);
  }
  return false;
}

function findMainPart(office: Omit<OfficePackage, 'mainPart'>): string {
  const named = office.relations('').find(({ type }) => type === 'officeDocument');
  const part = named?.target ?? office.kind.mainPart;
  if (!office.has(part))
    throw new ReadError('corrupt', `The ${office.kind.application} file has no document in it.`);
  return part;
}

const MAGIC = Buffer.from('d0cf11e0a1b11ae1', 'hex');
const ENCRYPTED_STREAM = Buffer.from('EncryptedPackage', 'utf16le');

/** @throws ReadError when the bytes are a compound file, which is an encrypted package or a file of Office until 2003 */
function refuseCompound(bytes: Uint8Array, kind: OfficeKind, filename: string | null): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!buffer.subarray(0, MAGIC.length).equals(MAGIC)) return;
  if (buffer.includes(ENCRYPTED_STREAM))
    throw new ReadError('encrypted', `The ${nameOf(kind, filename)} file is protected by a password.`);
  const [format = ''] = kind.extensions;
  throw new ReadError(
    'corrupt',
    `The file is no ${kind.application} file of the ${format} format. Save it as ${format}.`,
  );
}

/**
 * Returns the name of an application for messages. The content of an encrypted file cannot be seen, so that a file whose
 * name does not tell is detected as one of Word.
 */
function nameOf({ application, extensions }: OfficeKind, filename: string | null): string {
  const isNamed = extensions.includes(extensionOf(filename));
  return isNamed || filename === null || application !== 'Word' ? application : 'Office';
}

/** A reference of a part to another part of the package. */
interface Relation {
  readonly id: string;
  /** The last word of the type's address, which is the same in the strict and the transitional variant. */
  readonly type: string;
  /** The name of the part, which is in the package. */
  readonly target: string;
}

interface Parts {
  has(part: string): boolean;
  tree(part: string): XmlElement | undefined;
}

/** Reads the relations of a part, or with an empty name the relations of the package. Relations to the outside are left out. */
function readRelations(parts: Parts, part: string): readonly Relation[] {
  const slash = part.lastIndexOf('/');
  const folder = part.slice(0, slash + 1);
  const source = `${folder}_rels/${part.slice(slash + 1)}.rels`;
  if (!parts.has(source)) return [];
  const relations: Relation[] = [];
  for (const { attributes } of childrenOf(parts.tree(source), 'Relationship')) {
    const { Id: id = '', Type: type = '', Target: target = '', TargetMode: mode = '' } = attributes;
    const resolved = memberPath(target, part);
    if (mode.toLowerCase() !== 'external' && parts.has(resolved))
      relations.push({ id, type: type.slice(type.lastIndexOf('/') + 1), target: resolved });
  }
  return relations;
}
