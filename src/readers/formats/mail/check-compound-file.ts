import { ReadError } from '../../read-error.js';

const HEADER_BYTES = 512;
const ENTRY_BYTES = 128;
const MINI_SECTOR_BYTES = 64;
/** Streams below this size are in mini sectors. */
const LARGE_STREAM_BYTES = 4096;
const NONE = -1;
const MAX_FAT_SECTORS_IN_HEADER = 109;
/** Storages within storages; messages within messages take two each. */
const MAX_STORAGE_DEPTH = 64;

const FREE = 0;
const STORAGE = 1;
const STREAM = 2;
const ROOT = 5;

const FREE_SECTOR = -1;
const END_OF_CHAIN = -2;

/** Throws where a table of sectors or the tree of entries would lead a reader in circles or out of bounds. */
class CompoundFileError extends ReadError {
  constructor(what: string) {
    super('corrupt', `The Outlook message is damaged: ${what}.`);
  }
}

export interface CompoundEntry {
  readonly type: number;
  readonly left: number;
  readonly right: number;
  readonly child: number;
  readonly start: number;
  readonly size: number;
  readonly sizeOffset: number;
  /** The offset of the name. */
  readonly offset: number;
}

/**
 * Checks a compound file ([MS-CFB]) before it is read by a library that follows every chain to its end: all chains end, the
 * directory is a tree, and streams are no longer than the file. @returns its entries
 */
export function checkCompoundFile(buffer: Buffer): readonly CompoundEntry[] {
  if (buffer.length < HEADER_BYTES) throw new CompoundFileError('it is too short');
  const sectorBytes = buffer[30] === 12 ? 4096 : 512;
  const sectors = Math.ceil(buffer.length / sectorBytes);
  const fat = readFat(buffer, { sectorBytes, sectors });
  const follow = (start: number): number[] => followChain(fat, start, sectors);
  const entries = readEntries(buffer, { sectorBytes, chain: follow(buffer.readInt32LE(0x30)) });
  const [root] = entries;
  if (root?.type !== ROOT) throw new CompoundFileError('it has no directory');
  checkTree(entries);
  follow(root.start);
  const miniChain = follow(buffer.readInt32LE(0x3c));
  if (buffer.readInt32LE(0x40) > sectors) throw new CompoundFileError('a table is longer than the file');
  const miniFat = readTable(buffer, { sectorBytes, chain: miniChain });
  checkStreams(entries, { fileBytes: buffer.length, miniFat });
  return entries;
}

interface Layout {
  readonly sectorBytes: number;
  readonly sectors: number;
}

/** The table of sectors: for each the next one of its chain. */
function readFat(buffer: Buffer, { sectorBytes, sectors }: Layout): Int32Array {
  const count = buffer.readInt32LE(0x2c);
  const extensions = buffer.readInt32LE(0x48);
  if (count < 0 || count > sectors || extensions < 0 || extensions > sectors)
    throw new CompoundFileError('a table is longer than the file');
  const chain: number[] = [];
  for (let index = 0; index < Math.min(count, MAX_FAT_SECTORS_IN_HEADER); index += 1)
    chain.push(buffer.readInt32LE(0x4c + 4 * index));
  let next = buffer.readInt32LE(0x44);
  for (let done = 0; done < extensions && next !== FREE_SECTOR && next !== END_OF_CHAIN; done += 1) {
    if (next < 0) throw new CompoundFileError('a table has no place');
    const at = (next + 1) * sectorBytes;
    if (at + sectorBytes > buffer.length) throw new CompoundFileError('a table is cut off');
    for (let index = 0; index < sectorBytes / 4 - 1 && chain.length < count; index += 1)
      chain.push(buffer.readInt32LE(at + 4 * index));
    next = buffer.readInt32LE(at + sectorBytes - 4);
  }
  // The library would take the header for such a sector, and follow chains that are not seen here.
  if (chain.some((sector) => sector < 0)) throw new CompoundFileError('a table has no place');
  return readTable(buffer, { sectorBytes, chain });
}

function readTable(
  buffer: Buffer,
  { sectorBytes, chain }: { sectorBytes: number; chain: readonly number[] },
): Int32Array {
  const perSector = sectorBytes / 4;
  const table = new Int32Array(chain.length * perSector).fill(NONE);
  for (const [place, sector] of chain.entries())
    for (let index = 0; index < perSector; index += 1) {
      const at = (sector + 1) * sectorBytes + 4 * index;
      if (sector >= 0 && at + 4 <= buffer.length) table[place * perSector + index] = buffer.readInt32LE(at);
    }
  return table;
}

/** Returns the links of a chain, at most `most`. */
function followChain(table: Int32Array, start: number, most: number): number[] {
  const chain: number[] = [];
  for (let next = start; next >= 0; next = table[next] ?? NONE) {
    chain.push(next);
    if (chain.length > most) throw new CompoundFileError('a chain of sectors has no end');
  }
  return chain;
}

function readEntries(
  buffer: Buffer,
  { sectorBytes, chain }: { sectorBytes: number; chain: readonly number[] },
): CompoundEntry[] {
  const entries: CompoundEntry[] = [];
  for (const sector of chain)
    for (let index = 0; index < sectorBytes / ENTRY_BYTES; index += 1) {
      const offset = (sector + 1) * sectorBytes + index * ENTRY_BYTES;
      if (offset + ENTRY_BYTES > buffer.length) continue;
      const type = buffer[offset + 0x42] ?? FREE;
      entries.push({
        type,
        left: buffer.readInt32LE(offset + 0x44),
        right: buffer.readInt32LE(offset + 0x48),
        child: buffer.readInt32LE(offset + 0x4c),
        start: buffer.readInt32LE(offset + 0x74),
        size: buffer.readInt32LE(offset + 0x78),
        sizeOffset: offset + 0x78,
        offset,
      });
    }
  return entries;
}

/** Each entry is reached at most once from the root, and storages are not too deep. */
function checkTree(entries: readonly CompoundEntry[]): void {
  const seen = new Set<number>();
  const waiting = [{ index: entries[0]?.child ?? NONE, depth: 1 }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { index, depth } = next;
    if (index === NONE) continue;
    const entry = entries[index];
    if (!entry || seen.has(index) || index === 0) throw new CompoundFileError('its directory is no tree');
    if (depth > MAX_STORAGE_DEPTH) throw new CompoundFileError('its directory is too deep');
    seen.add(index);
    waiting.push({ index: entry.left, depth }, { index: entry.right, depth });
    if (entry.type === STORAGE) waiting.push({ index: entry.child, depth: depth + 1 });
  }
}

function checkStreams(
  entries: readonly CompoundEntry[],
  { fileBytes, miniFat }: { fileBytes: number; miniFat: Int32Array },
): void {
  let total = 0;
  for (const { type, start, size } of entries) {
    if (type !== STREAM) continue;
    total += size;
    if (size < 0 || total > fileBytes) throw new CompoundFileError('its streams are longer than the file');
    if (size > 0 && size < LARGE_STREAM_BYTES)
      followChain(miniFat, start, Math.ceil(size / MINI_SECTOR_BYTES));
  }
}
