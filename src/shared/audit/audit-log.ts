import { join } from 'node:path';
import { createDiskWatch } from '../disk/disk-watch.js';
import type { Settings } from '../settings/schema.js';
import { createDayWriter, createRetention, dayOf, nameFiles, type DayLines } from './day-files.js';
import { jsonLine, type AuditEntry, type AuditLogger } from './entry.js';
import { createRefusals } from './refusals.js';

/** Lines wait at most this long for others, so that many are written at once. */
const WAIT_MILLISECONDS = 100;
const RETRY_MILLISECONDS = 1_000;
/** The size up to which lines that cannot be written are kept. Further lines are lost. */
const MAX_WAITING_LENGTH = 16 * 1024 ** 2;
/** The share of that size from which the log counts as failing, so that there is room for requests under way. */
const FULL_SHARE = 0.75;
/** A write that takes longer hangs, as on the disk of a server that is away. */
const HUNG_MILLISECONDS = 10_000;
/** The size of one write. */
const PIECE_LENGTH = 256 * 1024;

export interface AuditFigures {
  readonly written: number;
  /** Lines that there was no room for. */
  readonly lost: number;
}

/** The lines of one process. Writing never waits and never fails. */
export interface AuditLog {
  write(entry: AuditEntry): void;
  /**
   * Tells whether the last lines could not be written, which are tried again every second; or a write hangs; or so much
   * waits that lines may soon be lost.
   */
  isFailing(): boolean;
  figures(): AuditFigures;
  /** Writes the waiting lines. Resolves also where that fails. */
  flush(): Promise<void>;
  /** Writes the waiting lines a last time. */
  close(): Promise<void>;
  /** The same, at once, in a process that ends. A write under way is left to the system. */
  readonly end: () => void;
}

interface AuditLogOptions {
  readonly folder: string;
  /** The process of Quire that writes, such as `api`. */
  readonly process: string;
  readonly keepDays: number;
  /** The greatest size of the files of the folder together. */
  readonly maxBytes?: number;
  readonly logger: AuditLogger;
  readonly now?: () => number;
  /** Tells whether the disk has room for more lines. */
  readonly hasRoom?: () => Promise<boolean>;
  /** The time after which a write counts as one that hangs. */
  readonly hungMilliseconds?: number;
}

export function createAuditLog(options: AuditLogOptions): AuditLog {
  const { folder, process, keepDays, maxBytes = Infinity, logger, now = Date.now } = options;
  const retention = createRetention({ folder, keepDays, maxBytes, logger, now });
  const onDay = () => void retention.look();
  const writer = createDayWriter({ folder, nameFile: nameFiles(process), onDay });
  const waiting = createWaiting();
  const writeLine = (entry: AuditEntry) => {
    const atMs = now();
    waiting.add(dayOf(atMs), jsonLine({ time: new Date(atMs).toISOString(), process, ...entry }));
    flusher.soon();
  };
  const refusals = createRefusals(writeLine);
  const write = (entry: AuditEntry) => {
    if (refusals.admit(entry)) writeLine(entry);
  };
  const tellLost = (lost: number) => {
    write({ type: 'log', action: 'audit.lost', lost });
  };
  const { isFull } = retention;
  const flusher = createFlusher({ ...options, waiting, append: writer.append, isFull, tellLost });
  write({ type: 'log', action: 'audit.start' });
  // A folder that cannot be written is known before the first request.
  void flusher.flush();
  return {
    write,
    isFailing: flusher.isFailing,
    figures: waiting.figures,
    flush: flusher.flush,
    close: async () => {
      retention.close();
      refusals.tell();
      write({ type: 'log', action: 'audit.stop' });
      await flusher.close();
      await writer.close();
    },
    end: () => {
      refusals.tell();
      // A process that waits for a disk that does not answer cannot end.
      if (!flusher.isHung()) writeNow(waiting, writer.appendNow);
    },
  };
}

/** Writes the waiting lines now. Where even that fails, nobody is left to be told. */
function writeNow(waiting: Waiting, append: (piece: DayLines) => void): void {
  try {
    for (let piece = waiting.next(); piece; piece = waiting.next()) {
      append(piece);
      waiting.done(piece);
    }
  } catch {
    // The process ends.
  }
}

type Waiting = ReturnType<typeof createWaiting>;

/** Lines that are to be written, in their order. */
function createWaiting() {
  const lines: { readonly day: string; readonly line: string }[] = [];
  let begun: { readonly piece: DayLines; readonly count: number; readonly size: number } | null = null;
  let size = 0;
  const figures = { written: 0, lost: 0 };
  const gather = () => {
    const day = lines[0]?.day;
    if (day === undefined) return null;
    let sum = 0;
    const end = lines.findIndex((each) => each.day !== day || (sum += each.line.length) > PIECE_LENGTH);
    // A line that is longer than a piece is one.
    const taken = lines.splice(0, end === -1 ? lines.length : Math.max(1, end));
    const text = taken.map(({ line }) => line).join('');
    const piece = { day, bytes: Buffer.from(text), written: 0 };
    return { piece, count: taken.length, size: text.length };
  };
  return {
    figures: () => ({ ...figures }),
    /** Adds a line. Where there is no room for it, it is lost. */
    add: (day: string, line: string): void => {
      if (size + line.length > MAX_WAITING_LENGTH) {
        figures.lost += 1;
        return;
      }
      size += line.length;
      lines.push({ day, line });
    },
    /** The piece that is to be written now, which stays the same until it is done. */
    next: (): DayLines | null => (begun ??= gather())?.piece ?? null,
    done: (piece: DayLines) => {
      if (begun?.piece !== piece) return;
      figures.written += begun.count;
      size -= begun.size;
      begun = null;
    },
    isFull: () => size > MAX_WAITING_LENGTH * FULL_SHARE,
    isEmpty: () => begun === null && lines.length === 0,
  };
}

interface FlusherOptions extends Pick<AuditLogOptions, 'logger' | 'hasRoom' | 'folder' | 'hungMilliseconds'> {
  readonly waiting: Waiting;
  readonly append: (piece: DayLines) => Promise<void>;
  /** Tells whether the log has reached its size. */
  readonly isFull: () => boolean;
  readonly tellLost: (lost: number) => void;
}

/** Writes the waiting lines. Tells once that it fails, and once that it does no more. */
function createRun(options: FlusherOptions) {
  const { waiting, append, logger, hasRoom, isFull, folder, tellLost } = options;
  const { hungMilliseconds = HUNG_MILLISECONDS } = options;
  let isFailing = false;
  let told = 0;
  let beganAt: number | null = null;
  const isHung = () => beganAt !== null && performance.now() - beganAt > hungMilliseconds;
  const writeAll = async () => {
    for (let piece = waiting.next(); piece; piece = waiting.next()) {
      beganAt = performance.now();
      if (hasRoom && !(await hasRoom())) throw new Error('too little is free on the disk');
      if (isFull()) throw new Error('the files of today are larger than audit.max_megabytes');
      await append(piece);
      waiting.done(piece);
    }
  };
  return {
    isFailing: () => isFailing || isHung() || waiting.isFull(),
    isHung,
    run: async () => {
      try {
        await writeAll();
        const { lost } = waiting.figures();
        if (isFailing) logger.warn({ folder, lost }, 'the audit log is written again');
        if (lost > told) tellLost(lost - told);
        told = lost;
        isFailing = false;
      } catch (error) {
        if (!isFailing) logger.error({ err: error, folder }, 'the audit log cannot be written');
        isFailing = true;
      } finally {
        beganAt = null;
      }
    },
  };
}

/** Writes the waiting lines soon, one run at a time, and later again where that fails. */
function createFlusher(options: FlusherOptions) {
  const { run, isFailing, isHung } = createRun(options);
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;
  let isClosed = false;
  const flush = (): Promise<void> => {
    if (timer) clearTimeout(timer);
    timer = null;
    running ??= run().finally(() => {
      running = null;
      if (!options.waiting.isEmpty()) soon();
    });
    return running;
  };
  const soon = () => {
    if (timer || running || isClosed) return;
    timer = setTimeout(() => void flush(), isFailing() ? RETRY_MILLISECONDS : WAIT_MILLISECONDS);
    timer.unref();
  };
  return {
    soon,
    flush,
    isFailing,
    isHung,
    close: async () => {
      isClosed = true;
      // Lines that came during the write are written, too.
      await running;
      await flush();
    },
  };
}

/** Whatever makes data grow is refused before this share of `disk.min_free_megabytes` is left, which is for Redis alone. */
const SHARE_LEFT = 0.25;

interface OpenOptions {
  readonly logger: AuditLogger;
  /** The process of Quire that writes, such as `api`. */
  readonly process: string;
  /** Calls its argument when the process ends. */
  readonly onExit: (end: () => void) => void;
}

type AuditSettings = Pick<Settings, 'audit' | 'dataDirectory' | 'disk' | 'redis'>;

/** The folder of the audit log. */
export const auditFolder = ({ audit, dataDirectory }: Pick<Settings, 'audit' | 'dataDirectory'>): string =>
  audit.folder === '' ? join(dataDirectory, 'audit') : audit.folder;

/** The audit log of this process; null where the settings want none, which costs nothing. */
export function openAudit(settings: AuditSettings, options: OpenOptions): AuditLog | null {
  if (!settings.audit.log) return null;
  const folder = auditFolder(settings);
  const { keepDays } = settings.audit;
  const log = createAuditLog({ ...options, ...auditRoom(settings), folder, keepDays });
  options.onExit(log.end);
  return log;
}

/** The room for the log: the greatest size of its files together, and whether its disk has enough for more lines. */
export function auditRoom(settings: AuditSettings) {
  const { directory } = settings.redis;
  const disk = createDiskWatch({
    disk: 'audit',
    directories: [auditFolder(settings)],
    spare: settings.disk.minFreeMegabytes * 2 ** 20 * SHARE_LEFT,
    redisDirectory: directory === '' ? null : directory,
    onChange: () => undefined,
  });
  const { maxMegabytes } = settings.audit;
  return {
    maxBytes: maxMegabytes === 0 ? Infinity : maxMegabytes * 2 ** 20,
    hasRoom: async (): Promise<boolean> => !(await disk.isShort()),
  };
}
