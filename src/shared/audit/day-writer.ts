import { constants, mkdirSync, openSync, writeSync } from 'node:fs';
import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

/** Lines of one day. Some of their bytes may be written already. */
export interface Piece {
  readonly day: string;
  readonly bytes: Buffer;
  written: number;
}

/** Appends lines to the file of their day. Nobody else writes to that file. */
export interface DayWriter {
  /** After an error, the same piece goes on where it stopped, so that no line is torn or there twice. */
  readonly append: (piece: Piece) => Promise<void>;
  /** The same without waiting, when the process ends. */
  readonly appendNow: (piece: Piece) => void;
  close(): Promise<void>;
}

interface WriterOptions {
  readonly folder: string;
  readonly nameFile: (day: string) => string;
  /** Called when the file of another day is opened. */
  readonly onDay: () => void;
}

const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
/** Nothing but appending is asked for. */
const FLAGS = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW;
/** Only the user who runs the service may read the log. */
const FOLDER = { recursive: true, mode: 0o700 };
const FILE_MODE = 0o600;

export function createDayWriter({ folder, nameFile, onDay }: WriterOptions): DayWriter {
  let file: { readonly day: string; readonly handle: FileHandle } | null = null;
  let underWay: Piece | null = null;
  const close = async () => {
    const last = file;
    file = null;
    await last?.handle.close();
  };
  const openDay = async (day: string) => {
    if (file?.day === day) return file.handle;
    await close();
    await mkdir(folder, FOLDER);
    file = { day, handle: await open(join(folder, nameFile(day)), FLAGS, FILE_MODE) };
    onDay();
    return file.handle;
  };
  return {
    append: async (piece) => {
      const handle = await openDay(piece.day);
      while (piece.written < piece.bytes.length) {
        underWay = piece;
        try {
          piece.written += (await handle.write(piece.bytes, piece.written)).bytesWritten;
        } finally {
          underWay = null;
        }
      }
    },
    appendNow: (piece) => {
      // The system ends a write that has begun, also when the process does.
      if (underWay === piece) return;
      mkdirSync(folder, FOLDER);
      const descriptor = openSync(join(folder, nameFile(piece.day)), FLAGS, FILE_MODE);
      while (piece.written < piece.bytes.length)
        piece.written += writeSync(descriptor, piece.bytes, piece.written);
    },
    close,
  };
}
