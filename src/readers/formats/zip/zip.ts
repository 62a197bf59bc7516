import { addTo, sumOf } from '../../../shared/at.js';
import { Inflate } from 'fflate';
import { ReadError } from '../../read-error.js';
import type { ReceiptWriter } from '../../receipt/receipt-writer.js';

const MAX_MEMBERS = 100_000;
/** Most times the limit that is inflated of members which are read again. */
const MAX_READINGS = 4;

interface ZipOptions {
  /**
   * Most bytes that all members which are read may inflate to. A member that is read again counts once, up to four times the
   * limit for all of them.
   */
  readonly limitBytes: number;
  /** The name of the kind of file in errors, such as `OpenDocument file`. */
  readonly what: string;
  /** Notes names that are there twice. */
  readonly receipt?: ReceiptWriter | undefined;
  /** True if names are compared, and listed, in small letters. */
  readonly ignoresCase?: boolean | undefined;
}

export interface Zip {
  /** The names of all members, in the order of the directory. */
  readonly names: readonly string[];
  has(name: string): boolean;
  /** Inflates a member as a stream. @throws ReadError when it is missing, damaged, encrypted or beyond the limit */
  pieces(name: string): Iterable<Uint8Array>;
  /** Inflates a whole member; undefined when there is none, or it is longer than `most`. @throws ReadError as `pieces` does */
  read(name: string, most?: number): Uint8Array | undefined;
}

/**
 * Opens a zip archive, whose members are inflated when they are asked for. The number of bytes that they really inflate to
 * counts, not the number that the archive states, so that members that share their bytes count each time.
 * @throws ReadError `corrupt` when it is no archive, `too_large` when it has too many members
 */
export function openZip(bytes: Uint8Array, options: ZipOptions): Zip {
  const { what, ignoresCase = false } = options;
  const keyOf = (name: string): string => (ignoresCase ? name.toLowerCase() : name);
  const entries = findEntries(bytes, options, keyOf);
  const count = createCount(options);
  function* pieces(name: string): Iterable<Uint8Array> {
    const key = keyOf(name);
    const entry = entries.get(key);
    if (!entry) throw damaged(what);
    if (entry.isEncrypted) throw new ReadError('encrypted', `The ${what} is protected by a password.`);
    let length = 0;
    try {
      for (const piece of inflateEntry(bytes, entry)) {
        length += piece.length;
        count(key, length, piece.length);
        yield piece;
      }
    } catch (error) {
      throw error instanceof ReadError ? error : damaged(what, error);
    }
  }
  return {
    names: [...entries.keys()],
    has: (name) => entries.has(keyOf(name)),
    pieces,
    read: (name, most) => (entries.has(keyOf(name)) ? joined(pieces(name), most) : undefined),
  };
}

function joined(pieces: Iterable<Uint8Array>, most = Infinity): Uint8Array | undefined {
  const read: Uint8Array[] = [];
  let length = 0;
  for (const piece of pieces) {
    length += piece.length;
    if (length > most) return undefined;
    read.push(piece);
  }
  return Buffer.concat(read);
}

const damaged = (what: string, cause?: unknown): ReadError =>
  new ReadError('corrupt', `The ${what} is damaged.`, { cause });

/**
 * Finds the members. The last of several members with the same name counts, as for programs that unpack one after the
 * other.
 */
function findEntries(
  bytes: Uint8Array,
  { what, receipt }: ZipOptions,
  keyOf: (name: string) => string,
): ReadonlyMap<string, ZipEntry> {
  const entries = new Map<string, ZipEntry>();
  let members = 0;
  try {
    for (const entry of readCentralDirectory(bytes)) {
      entries.set(keyOf(entry.name), entry);
      members += 1;
      if (members > MAX_MEMBERS)
        throw new ReadError(
          'too_large',
          `The ${what} has more than ${MAX_MEMBERS.toLocaleString('en')} members.`,
        );
    }
  } catch (error) {
    throw error instanceof ReadError ? error : damaged(what, error);
  }
  if (entries.size === 0) throw damaged(what);
  const hidden = members - entries.size;
  if (hidden > 0)
    receipt?.addGap('unreadable', `Members that have the name of another are not read: ${String(hidden)}.`);
  return entries;
}

/** Counts the inflated bytes of members. @throws ReadError beyond the limit */
function createCount({ limitBytes, what }: ZipOptions) {
  const counted = new Map<string, number>();
  let inflated = 0;
  let read = 0;
  return (key: string, length: number, added: number): void => {
    read += added;
    // A member that is read again counts once, with the longest reading.
    const more = length - sumOf(counted, key);
    if (more > 0) {
      addTo(counted, key, more);
      inflated += more;
    }
    if (inflated <= limitBytes && read <= limitBytes * MAX_READINGS) return;
    const limit = limitBytes / 1024 / 1024;
    throw new ReadError(
      'too_large',
      `The ${what} is too large when unpacked: it has more than ${String(limit)} MB.`,
    );
  };
}

/** Bytes that are inflated at once. Deflate makes at most about a thousand times as many of them. */
const STEP = 4_096;
/** Bytes of one piece, so that whoever reads it makes little of it at once. */
const PIECE = 65_536;
const STORED = 0;
const DEFLATED = 8;

/**
 * Inflates a member piece by piece, so that whoever counts the bytes can stop.
 * @throws Error when it is damaged, cut off or compressed in another way
 */
function* inflateEntry(archive: Uint8Array, entry: ZipEntry): Iterable<Uint8Array> {
  const compressed = compressedBytes(archive, entry);
  if (entry.method === STORED) {
    yield* cut(compressed);
    return;
  }
  if (entry.method !== DEFLATED) throw new RangeError('The member is compressed in an unknown way.');
  const ready: Uint8Array[] = [];
  const inflate = new Inflate((piece) => {
    ready.push(piece);
  });
  let at = 0;
  do {
    const end = Math.min(at + STEP, compressed.length);
    inflate.push(compressed.subarray(at, end), end === compressed.length);
    for (const piece of ready.splice(0)) yield* cut(piece);
    at = end;
  } while (at < compressed.length);
}

function* cut(bytes: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}

/** The bytes of a member; undefined when it is missing or damaged, which does not keep others from being read. */
export function readMember(zip: Zip, path: string, most?: number): Uint8Array | undefined {
  try {
    return zip.read(path, most);
  } catch (error) {
    if (error instanceof ReadError && error.code === 'corrupt') return undefined;
    throw error;
  }
}

/** The facts about a member that the directory of an archive states. */
interface ZipEntry {
  /** With slashes between folders, whatever the program that has written it used. */
  readonly name: string;
  /** 0 for stored, 8 for deflated. */
  readonly method: number;
  readonly isEncrypted: boolean;
  /** The length in the archive, in bytes. */
  readonly compressedSize: number;
  /** The start of its local header. */
  readonly offset: number;
}

const END_SIGNATURE = 0x06054b50;
const END_LENGTH = 22;
const MAX_COMMENT_LENGTH = 65_535;
const ENTRY_SIGNATURE = 0x02014b50;
const ENTRY_LENGTH = 46;
const LOCAL_SIGNATURE = 0x04034b50;
const LOCAL_LENGTH = 30;
const WIDE_LOCATOR_SIGNATURE = 0x07064b50;
const WIDE_LOCATOR_LENGTH = 20;
const WIDE_END_LENGTH = 56;
const WIDE_FIELD = 1;
/** Stands for a number that is too large for its field and is told elsewhere (zip64). */
const ELSEWHERE = 0xffffffff;

/**
 * Reads the directory at the end of a zip archive (APPNOTE.TXT 6.3.10, section 4.3). The sizes that it states for inflated
 * members are ignored, so that neither a lie nor a data descriptor matters.
 * @throws RangeError when there is no whole directory, as in an archive that was cut off
 */
function* readCentralDirectory(bytes: Uint8Array): Iterable<ZipEntry> {
  const archive = bufferOf(bytes);
  const end = findEnd(archive);
  const { offset, size } = directoryBounds(archive, end);
  // Bytes may have been put in front of the archive, such as a program that unpacks it.
  const wideEnd = isWide(archive, end) ? WIDE_LOCATOR_LENGTH + WIDE_END_LENGTH : 0;
  const shift = Math.max(0, end - wideEnd - size - offset);
  let at = offset + shift;
  while (at + ENTRY_LENGTH <= end && archive.readUInt32LE(at) === ENTRY_SIGNATURE) {
    const nameEnd = at + ENTRY_LENGTH + archive.readUInt16LE(at + 28);
    yield readEntry(archive, { at, nameEnd, shift });
    at = nameEnd + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  if (at < Math.min(end, offset + shift + size)) throw new RangeError('The central directory is damaged.');
}

/** The compressed bytes of a member. @throws RangeError when they are not there, or cut off */
function compressedBytes(bytes: Uint8Array, { offset, compressedSize }: ZipEntry): Uint8Array {
  const archive = bufferOf(bytes);
  if (archive.readUInt32LE(offset) !== LOCAL_SIGNATURE) throw new RangeError('The member is not there.');
  const start = offset + LOCAL_LENGTH + archive.readUInt16LE(offset + 26) + archive.readUInt16LE(offset + 28);
  if (start + compressedSize > bytes.length) throw new RangeError('The member is cut off.');
  return bytes.subarray(start, start + compressedSize);
}

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function findEnd(archive: Buffer): number {
  const first = Math.max(0, archive.length - END_LENGTH - MAX_COMMENT_LENGTH);
  for (let at = archive.length - END_LENGTH; at >= first; at -= 1)
    if (archive.readUInt32LE(at) === END_SIGNATURE) return at;
  throw new RangeError('The archive has no central directory.');
}

const isWide = (archive: Buffer, end: number): boolean =>
  end >= WIDE_LOCATOR_LENGTH && archive.readUInt32LE(end - WIDE_LOCATOR_LENGTH) === WIDE_LOCATOR_SIGNATURE;

function directoryBounds(archive: Buffer, end: number): { offset: number; size: number } {
  const bounds = { size: archive.readUInt32LE(end + 12), offset: archive.readUInt32LE(end + 16) };
  if (!isWide(archive, end)) return bounds;
  const wide = wideNumber(archive, end - WIDE_LOCATOR_LENGTH + 8);
  if (wide + WIDE_END_LENGTH > archive.length) return bounds;
  return { size: wideNumber(archive, wide + 40), offset: wideNumber(archive, wide + 48) };
}

/** A number of eight bytes. One that no file is as long as becomes a position beyond the end. */
const wideNumber = (archive: Buffer, at: number): number =>
  archive.readUInt32LE(at) + archive.readUInt32LE(at + 4) * 2 ** 32;

interface EntryPlace {
  readonly at: number;
  readonly nameEnd: number;
  /** The number of bytes before the archive. */
  readonly shift: number;
}

function readEntry(archive: Buffer, { at, nameEnd, shift }: EntryPlace): ZipEntry {
  const extra = archive.subarray(nameEnd, nameEnd + archive.readUInt16LE(at + 30));
  const [, compressedSize = 0, offset = 0] = widened(
    [at + 24, at + 20, at + 42].map((place) => archive.readUInt32LE(place)),
    extra,
  );
  return {
    name: memberName(archive.subarray(at + ENTRY_LENGTH, nameEnd)),
    method: archive.readUInt16LE(at + 10),
    isEncrypted: (archive.readUInt16LE(at + 8) & 1) === 1,
    compressedSize,
    offset: offset + shift,
  };
}

/** Numbers that do not fit are in an extra field, one after the other; each is there only where its own field does not hold it. */
function widened(numbers: readonly number[], extra: Buffer): readonly number[] {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== WIDE_FIELD) continue;
    let next = at + 4;
    return numbers.map((number) => {
      if (number !== ELSEWHERE || next + 8 > extra.length) return number;
      next += 8;
      return wideNumber(extra, next - 8);
    });
  }
  return numbers;
}

function memberName(bytes: Buffer): string {
  const name = bytes.toString('utf8');
  return (name.includes('\ufffd') ? bytes.toString('latin1') : name)
    .replace(/\\/g, '/')
    .replace(/^\.?\/+/, '');
}
