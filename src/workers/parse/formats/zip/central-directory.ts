/** What the directory of an archive says about a member. */
export interface ZipEntry {
  readonly name: string;
  /** 0 for stored, 8 for deflated. */
  readonly method: number;
  readonly isEncrypted: boolean;
  /** Where its compressed bytes begin and end in the archive. */
  readonly start: number;
  readonly end: number;
}

const END_SIGNATURE = 0x06054b50;
const END_LENGTH = 22;
const LONGEST_COMMENT = 65_535;
const ENTRY_SIGNATURE = 0x02014b50;
const ENTRY_LENGTH = 46;
const LOCAL_SIGNATURE = 0x04034b50;
const LOCAL_LENGTH = 30;
const WIDE_LOCATOR_SIGNATURE = 0x07064b50;
const WIDE_LOCATOR_LENGTH = 20;
/** Stands for a number that is too large for its field and is told elsewhere (zip64). */
const ELSEWHERE = 0xffffffff;

/**
 * Reads the directory at the end of a zip archive (APPNOTE.TXT 4.3). Entries that point out of the archive are left
 * out. Undefined when there is no directory, as in an archive that was cut off.
 */
export function readCentralDirectory(bytes: Uint8Array): readonly ZipEntry[] | undefined {
  const archive = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = findEnd(archive);
  if (end === undefined) return undefined;
  const { offset, size } = directoryBounds(archive, end);
  // Bytes may have been put in front of the archive, such as a program that unpacks it.
  const wideEnd = isWide(archive, end) ? WIDE_LOCATOR_LENGTH + 56 : 0;
  const shift = Math.max(0, end - wideEnd - size - offset);
  const entries: ZipEntry[] = [];
  let at = offset + shift;
  while (at + ENTRY_LENGTH <= archive.length && archive.readUInt32LE(at) === ENTRY_SIGNATURE) {
    const entry = readEntry(archive, at, shift);
    if (entry) entries.push(entry);
    at += ENTRY_LENGTH + variableLength(archive, at);
  }
  return entries;
}

function findEnd(archive: Buffer): number | undefined {
  const first = Math.max(0, archive.length - END_LENGTH - LONGEST_COMMENT);
  for (let at = archive.length - END_LENGTH; at >= first; at -= 1)
    if (archive.readUInt32LE(at) === END_SIGNATURE) return at;
  return undefined;
}

const isWide = (archive: Buffer, end: number): boolean =>
  end >= WIDE_LOCATOR_LENGTH && archive.readUInt32LE(end - WIDE_LOCATOR_LENGTH) === WIDE_LOCATOR_SIGNATURE;

function directoryBounds(archive: Buffer, end: number): { offset: number; size: number } {
  const bounds = { size: archive.readUInt32LE(end + 12), offset: archive.readUInt32LE(end + 16) };
  if (!isWide(archive, end)) return bounds;
  const wide = wideNumber(archive, end - WIDE_LOCATOR_LENGTH + 8);
  if (wide + 56 > archive.length) return bounds;
  return { size: wideNumber(archive, wide + 40), offset: wideNumber(archive, wide + 48) };
}

/** A number of eight bytes. One that no file is as long as becomes a position beyond the end. */
const wideNumber = (archive: Buffer, at: number): number =>
  archive.readUInt32LE(at) + archive.readUInt32LE(at + 4) * 2 ** 32;

const variableLength = (archive: Buffer, at: number): number =>
  archive.readUInt16LE(at + 28) + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);

function readEntry(archive: Buffer, at: number, shift: number): ZipEntry | undefined {
  const nameEnd = at + ENTRY_LENGTH + archive.readUInt16LE(at + 28);
  const { compressed, local } = sizesOf(archive, at, nameEnd);
  const header = local + shift;
  if (nameEnd > archive.length || header + LOCAL_LENGTH > archive.length) return undefined;
  if (archive.readUInt32LE(header) !== LOCAL_SIGNATURE) return undefined;
  const start = header + LOCAL_LENGTH + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
  return {
    name: memberName(archive.subarray(at + ENTRY_LENGTH, nameEnd)),
    method: archive.readUInt16LE(at + 10),
    isEncrypted: (archive.readUInt16LE(at + 8) & 1) === 1,
    start: Math.min(start, archive.length),
    end: Math.min(start + compressed, archive.length),
  };
}

/** The compressed size and the position of a member, from the extra field where they do not fit their own. */
function sizesOf(archive: Buffer, at: number, extra: number): { compressed: number; local: number } {
  const compressed = archive.readUInt32LE(at + 20);
  const local = archive.readUInt32LE(at + 42);
  if (compressed !== ELSEWHERE && local !== ELSEWHERE) return { compressed, local };
  const end = Math.min(archive.length, extra + archive.readUInt16LE(at + 30));
  for (let field = extra; field + 4 <= end; field += 4 + archive.readUInt16LE(field + 2)) {
    if (archive.readUInt16LE(field) !== 1) continue;
    // The numbers follow one another; each is there only where its own field does not hold it.
    let next = field + 4 + (archive.readUInt32LE(at + 24) === ELSEWHERE ? 8 : 0);
    const read = (): number => {
      next += 8;
      return next <= end ? wideNumber(archive, next - 8) : ELSEWHERE;
    };
    return {
      compressed: compressed === ELSEWHERE ? read() : compressed,
      local: local === ELSEWHERE ? read() : local,
    };
  }
  return { compressed, local };
}

/** Names are compared as paths with slashes, whatever the program that has written them used. */
function memberName(bytes: Buffer): string {
  const name = bytes.toString('utf8');
  return (name.includes('\ufffd') ? bytes.toString('latin1') : name)
    .replace(/\\/g, '/')
    .replace(/^\.?\//, '');
}
