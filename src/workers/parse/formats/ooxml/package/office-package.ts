import { IngestError } from '../../../../../shared/errors.js';
import type { ParseContext } from '../../parser.js';
import { decodePieces } from '../xml/decode-pieces.js';
import { streamXml, type XmlElement, type XmlEvent } from '../xml/stream-xml.js';
import { damaged, tooLarge, type OfficeKind } from './office-kind.js';
import { partKey, readRelations, type Relation } from './relations.js';
import { refuseCompound } from './refuse-compound.js';
import { inflateMember, listMembers, type ZipMember } from './zip-members.js';

/** The maximum number of bytes that the parts which are read have after decompression. */
const INFLATED_LIMIT = 256 * 1024 * 1024;
const MOST_MEMBERS = 100_000;

/** The parts of an office package (ECMA-376 part 2), which are read when they are asked for. Names ignore upper case. */
export interface OfficePackage {
  readonly kind: OfficeKind;
  /** The names of all parts, in lower case. */
  readonly names: readonly string[];
  /** The part that the relations of the package name as its document. */
  readonly mainPart: string;
  has(part: string): boolean;
  /** Whether a part holds these bytes, which is quicker to tell than to read its XML. */
  mentions(part: string, word: string): boolean;
  /** The XML of a part: elements for which `isWhole` come as trees, all others as events. */
  stream(part: string, isWhole: (name: string) => boolean): Iterable<XmlEvent>;
  /** The whole tree of a part; undefined when there is none. */
  tree(part: string): XmlElement | undefined;
  /** What a part refers to within the package. */
  relations(part: string): readonly Relation[];
  /** Whether a part could not be read to its end. Such parts are in the receipt; the main part is not allowed to be one. */
  isDamaged(): boolean;
}

/** @throws IngestError when the bytes are no package, or an encrypted one */
export function openPackage(bytes: Uint8Array, kind: OfficeKind, context: ParseContext): OfficePackage {
  refuseCompound(bytes, kind, context.filename);
  const members = findMembers(bytes, kind);
  const pieces = createPieces(bytes, members, kind);
  const relationsOf = new Map<string, readonly Relation[]>();
  const damage = createDamage(context);
  const office: Omit<OfficePackage, 'mainPart'> = {
    kind,
    names: [...members.keys()],
    isDamaged: damage.isFound,
    has: (part) => members.has(partKey(part)),
    mentions: (part, word) => damage.survive(part, () => includes(pieces(part), word)) ?? false,
    *stream(part, isWhole) {
      const onCut = (): void => damage.note(part, 'ends too early');
      try {
        yield* streamXml(decodePieces(pieces(part)), { kind, isWhole, onCut });
      } catch (error) {
        damage.survive(part, () => {
          throw error;
        });
      }
    },
    tree(part) {
      if (!office.has(part)) return undefined;
      // The stream is read to its end, which tells whether it is whole.
      const events = [...office.stream(part, () => true)];
      const root = events.find((event) => event.type === 'element');
      return root?.element;
    },
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

/** Takes down which parts are damaged, and goes on without them. */
function createDamage({ receipt }: ParseContext) {
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
        const isDamage = error instanceof IngestError && error.code === 'corrupt';
        if (!isDamage || part === forbidden) throw error;
        note(part, 'is damaged');
        return undefined;
      }
    },
  };
}

function includes(pieces: Iterable<Uint8Array>, word: string): boolean {
  let end = Buffer.alloc(0);
  for (const piece of pieces) {
    const bytes = Buffer.concat([end, piece]);
    if (bytes.includes(word)) return true;
    end = bytes.subarray(-word.length);
  }
  return false;
}

function findMainPart(office: Omit<OfficePackage, 'mainPart'>): string {
  const named = office.relations('').find(({ type }) => type === 'officeDocument');
  const part = named?.target ?? office.kind.mainPart;
  if (!office.has(part))
    throw new IngestError('corrupt', `The ${office.kind.application} file has no document in it.`);
  return part;
}

function findMembers(bytes: Uint8Array, kind: OfficeKind): ReadonlyMap<string, ZipMember> {
  const members = new Map<string, ZipMember>();
  try {
    for (const member of listMembers(bytes)) {
      const key = partKey(member.name);
      if (!members.has(key)) members.set(key, member);
      if (members.size > MOST_MEMBERS)
        throw tooLarge(kind, `has more than ${MOST_MEMBERS.toLocaleString('en')} members`);
    }
  } catch (error) {
    throw error instanceof IngestError ? error : damaged(kind, error);
  }
  return members;
}

/** Inflates parts and counts the bytes of all together. A part that is read again is counted once. */
function createPieces(bytes: Uint8Array, members: ReadonlyMap<string, ZipMember>, kind: OfficeKind) {
  const counted = new Map<string, number>();
  let inflated = 0;
  const count = (key: string, length: number): void => {
    const before = counted.get(key) ?? 0;
    if (length <= before) return;
    counted.set(key, length);
    inflated += length - before;
    const megabytes = INFLATED_LIMIT / 1024 / 1024;
    if (inflated > INFLATED_LIMIT)
      throw tooLarge(kind, `is too large when unpacked: it has more than ${String(megabytes)} MB of XML`);
  };
  return function* pieces(part: string): Iterable<Uint8Array> {
    const key = partKey(part);
    const member = members.get(key);
    if (!member) throw damaged(kind);
    if (member.isEncrypted)
      throw new IngestError('encrypted', `The ${kind.application} file is protected by a password.`);
    let length = 0;
    try {
      for (const piece of inflateMember(bytes, member)) {
        length += piece.length;
        count(key, length);
        yield piece;
      }
    } catch (error) {
      throw error instanceof IngestError ? error : damaged(kind, error);
    }
  };
}
