import { Inflate } from 'fflate';
import { IngestError } from '../../../../shared/errors.js';
import { readCentralDirectory, type ZipEntry } from './central-directory.js';

/** How much is inflated at once. A byte inflates to a thousand at most, so that this yields 16 MiB at most. */
const COMPRESSED_STEP = 16_384;
const STORED = 0;
const DEFLATED = 8;

interface ZipOptions {
  /** Most bytes that all members that are read may inflate to. A member that is read twice counts twice. */
  readonly limitBytes: number;
  /** What the file is called in errors, such as `OpenDocument file`. */
  readonly what: string;
}

export interface Zip {
  /** The names of all members, in the order of the directory. */
  readonly names: readonly string[];
  has(name: string): boolean;
  /** Inflates a member as a stream. @throws IngestError when it is missing, damaged, encrypted or beyond the limit */
  pieces(name: string): Iterable<Uint8Array>;
  /** Inflates a whole member; undefined when there is none. @throws IngestError as `pieces` does */
  read(name: string): Uint8Array | undefined;
}

/**
 * Opens a zip archive, whose members are inflated when they are asked for. What counts is how many bytes they really
 * inflate to, not what the archive says of them, so that members that share their bytes count each time.
 * @throws IngestError `corrupt` when it is no archive
 */
export function openZip(bytes: Uint8Array, { limitBytes, what }: ZipOptions): Zip {
  const entries = new Map<string, ZipEntry>();
  const corrupt = (cause?: unknown): IngestError =>
    new IngestError('corrupt', `The ${what} is damaged.`, { cause });
  for (const entry of readCentralDirectory(bytes) ?? []) entries.set(entry.name, entry);
  if (entries.size === 0) throw corrupt();
  let inflated = 0;
  const count = (piece: Uint8Array): Uint8Array => {
    inflated += piece.length;
    if (inflated > limitBytes) throw new IngestError('too_large', `The ${what} is too large when unpacked.`);
    return piece;
  };
  function* pieces(name: string): Iterable<Uint8Array> {
    const entry = entries.get(name);
    if (!entry || ![STORED, DEFLATED].includes(entry.method)) throw corrupt();
    if (entry.isEncrypted) throw new IngestError('encrypted', `The ${what} is protected by a password.`);
    const compressed = bytes.subarray(entry.start, entry.end);
    if (entry.method === STORED) {
      yield count(compressed);
      return;
    }
    try {
      for (const piece of inflatePieces(compressed)) yield count(piece);
    } catch (error) {
      throw error instanceof IngestError ? error : corrupt(error);
    }
  }
  return {
    names: [...entries.keys()],
    has: (name) => entries.has(name),
    pieces,
    read: (name) => (entries.has(name) ? Buffer.concat([...pieces(name)]) : undefined),
  };
}

function* inflatePieces(compressed: Uint8Array): Iterable<Uint8Array> {
  let ready: Uint8Array[] = [];
  const inflate = new Inflate((piece) => {
    if (piece.length > 0) ready.push(piece);
  });
  let at = 0;
  do {
    const end = Math.min(at + COMPRESSED_STEP, compressed.length);
    inflate.push(compressed.subarray(at, end), end === compressed.length);
    at = end;
    yield* ready;
    ready = [];
  } while (at < compressed.length);
}
