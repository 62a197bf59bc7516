import { ReadError } from '../../../read-error.js';
import type { ReadContext } from '../../../parser.js';
import { decodeXml } from '../../xml/decode-xml.js';
import { openZip } from '../../zip/zip.js';
import { streamXml, type XmlElement, type XmlEvent } from '../xml/stream-xml.js';
import { createElementCount, type OfficeKind } from './office-kind.js';
import { readRelations, type Relation } from './relations.js';
import { refuseCompound } from './refuse-compound.js';

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
