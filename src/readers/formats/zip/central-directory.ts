/** The facts about a member that the directory of an archive states. */
export interface ZipEntry {
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
export function* readCentralDirectory(bytes: Uint8Array): Iterable<ZipEntry> {
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
export function compressedBytes(bytes: Uint8Array, { offset, compressedSize }: ZipEntry): Uint8Array {
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
