import { Inflate } from 'fflate';

const END_SIGNATURE = 0x06054b50;
const MEMBER_SIGNATURE = 0x02014b50;
const LOCAL_SIGNATURE = 0x04034b50;
const END_LENGTH = 22;
const MEMBER_LENGTH = 46;
const LOCAL_LENGTH = 30;
const LONGEST_COMMENT = 65_535;
const ZIP64_FIELD = 1;
const FILLED = 0xffffffff;
/** Bytes that are inflated at once. Deflate makes at most about a thousand times as many of them. */
const STEP = 4_096;
/** Bytes of one piece, so that whoever reads it makes little of it at once. */
const PIECE = 65_536;

export interface ZipMember {
  readonly name: string;
  readonly method: number;
  readonly isEncrypted: boolean;
  readonly compressedSize: number;
  /** Where its local header begins. */
  readonly offset: number;
}

/**
 * Lists the members of a zip file as its central directory does (APPNOTE.TXT 6.3.10, section 4.3). Sizes that it claims for
 * what they inflate to are ignored.
 * @throws RangeError when there is no whole directory
 */
export function* listMembers(bytes: Uint8Array): Iterable<ZipMember> {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = findEnd(view);
  const size = view.readUInt32LE(end + 12);
  const stated = view.readUInt32LE(end + 16);
  // Bytes may stand before the zip; all offsets are then too small by their number.
  const shift = stated === FILLED ? 0 : Math.max(0, end - size - stated);
  let at = stated === FILLED ? Number(view.readBigUInt64LE(findZip64(view, end) + 48)) : stated + shift;
  while (at + MEMBER_LENGTH <= end && view.readUInt32LE(at) === MEMBER_SIGNATURE) {
    const nameLength = view.readUInt16LE(at + 28);
    const extraLength = view.readUInt16LE(at + 30);
    const extraAt = at + MEMBER_LENGTH + nameLength;
    const extra = view.subarray(extraAt, extraAt + extraLength);
    yield { ...memberAt(view, at, extra), name: view.toString('utf8', at + MEMBER_LENGTH, extraAt) };
    at = extraAt + extraLength + view.readUInt16LE(at + 32);
  }
  if (at < end && stated !== FILLED && at < stated + shift + size)
    throw new RangeError('The central directory is damaged.');

  function memberAt(view: Buffer, at: number, extra: Buffer): Omit<ZipMember, 'name'> {
    const sizes = [at + 24, at + 20, at + 42].map((place) => view.readUInt32LE(place));
    const [, compressedSize = 0, offset = 0] = readZip64(extra, sizes);
    return {
      method: view.readUInt16LE(at + 10),
      isEncrypted: (view.readUInt16LE(at + 8) & 1) === 1,
      compressedSize,
      offset: offset + shift,
    };
  }
}

function findEnd(view: Buffer): number {
  const first = Math.max(0, view.length - END_LENGTH - LONGEST_COMMENT);
  for (let at = view.length - END_LENGTH; at >= first; at -= 1)
    if (view.readUInt32LE(at) === END_SIGNATURE) return at;
  throw new RangeError('The zip file has no central directory.');
}

/** Where the end record of 64 bits is, which a locator before the other end record tells. */
const findZip64 = (view: Buffer, end: number): number => Number(view.readBigUInt64LE(end - 20 + 8));

/** Numbers that did not fit are in an extra field, in this order. */
function readZip64(extra: Buffer, numbers: readonly number[]): number[] {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== ZIP64_FIELD) continue;
    let next = at + 4;
    return numbers.map((number) => {
      if (number !== FILLED) return number;
      next += 8;
      return Number(extra.readBigUInt64LE(next - 8));
    });
  }
  return [...numbers];
}

/**
 * Inflates a member piece by piece, so that whoever counts the bytes can stop.
 * @throws Error when it is damaged
 */
export function* inflateMember(bytes: Uint8Array, member: ZipMember): Iterable<Uint8Array> {
  const data = dataOf(bytes, member);
  if (member.method === 0) {
    yield* cut(data);
    return;
  }
  if (member.method !== 8) throw new RangeError('The member is compressed in an unknown way.');
  const ready: Uint8Array[] = [];
  const inflate = new Inflate((piece) => {
    ready.push(piece);
  });
  for (let at = 0; at < data.length; at += STEP) {
    inflate.push(data.subarray(at, at + STEP), at + STEP >= data.length);
    for (const piece of ready.splice(0)) yield* cut(piece);
  }
}

function dataOf(bytes: Uint8Array, { offset, compressedSize }: ZipMember): Uint8Array {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.readUInt32LE(offset) !== LOCAL_SIGNATURE) throw new RangeError('The member is not there.');
  const start = offset + LOCAL_LENGTH + view.readUInt16LE(offset + 26) + view.readUInt16LE(offset + 28);
  if (start + compressedSize > bytes.length) throw new RangeError('The member is cut off.');
  return bytes.subarray(start, start + compressedSize);
}

function* cut(bytes: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}
