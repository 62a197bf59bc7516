import type { KeptAttachment, Receipt } from '../../readers/index.js';
import type { ChunkText } from '../../shared/chunks/fields.js';
import { IngestError } from '../../shared/errors.js';
import {
  checkMessage,
  PROGRESS_MILLISECONDS,
  type ChildMessage,
  type ChildTask,
  type ParseTask,
} from './protocol.js';
import type { ParserChild, ParserExit } from './child-process.js';
import { MAX_HEADER_CHARACTERS, mostText } from './extraction.js';

const STARTUP_MILLISECONDS = 30_000;
const CRASH_SIGNALS = new Set(['SIGABRT', 'SIGSEGV', 'SIGILL', 'SIGTRAP', 'SIGBUS', 'SIGFPE']);
/** The exit codes with which a shell or a wrapper reports these signals. */
const CRASH_CODES = new Set([132, 133, 134, 135, 136, 139]);

export interface TaskEnd {
  readonly chunks: ChunkText[];
  /** Null for a picture, and where there is an error. */
  readonly receipt: Receipt | null;
  /** Files that the document carries, in the child's folder until the pool takes them out of it. */
  readonly attachments: readonly KeptAttachment[];
  /** The parts of a picture, in Base64. */
  readonly picture: readonly string[];
  readonly error: Error | undefined;
  /** The child has exited, or has to be killed. */
  readonly isLost: boolean;
  /** The document made the child crash, or take more memory than it has. */
  readonly isCrash: boolean;
  readonly residentBytes: number;
}

/** The result of a child that fails. */
const NOTHING = { receipt: null, attachments: [] };

export interface RunLimits {
  readonly signal: AbortSignal | undefined;
  /** The maximum time from the moment when the child gets the document. */
  readonly timeoutMilliseconds: number;
  /** The size of the file, or the length of the text, that the child reads. */
  readonly sourceSize: number;
  /** Called now and then with the share of the document's parts that is read, from 0 to 1. */
  readonly onProgress?: ((share: number) => void) | undefined;
}

/** Passes one document to a child and collects the result. Ends early when the child exits, the time is over, or the caller aborts. */
export async function runInChild(
  child: ParserChild,
  task: ChildTask,
  { signal, ...limits }: RunLimits,
): Promise<TaskEnd> {
  const { take, ...taken } = createResultCollector(task, limits);
  const clock = createClock();
  const { promise, finish, lose } = createEnd(child, taken);
  const abort = (): void => {
    lose(new Error('aborted'));
  };
  const hear = (said: unknown): void => {
    const message = checkMessage(task, said);
    const refusal = message ? take(message) : message === null ? speaksOfOther() : notValid();
    if (!message || refusal) lose(refusal ?? notValid());
    else if (message.type === 'broken') lose(new Error(`parser failed: ${message.message}`));
    else if (message.type === 'done' || message.type === 'failed') finish(endOf(message));
  };
  signal?.addEventListener('abort', abort, { once: true });
  void child.exited.then((exit) => {
    const error = deathError(exit);
    lose(error, error instanceof IngestError);
  });
  clock.set(STARTUP_MILLISECONDS, () => lose(new Error('a parser process did not start in time')));
  child.listen(hear);
  void child.ready.then(async () => {
    clock.set(limits.timeoutMilliseconds, () => lose(tookTooLong()));
    await child.send(task);
  });
  try {
    return await promise;
  } finally {
    clock.stop();
    signal?.removeEventListener('abort', abort);
  }
}

/** The document is not at fault, so that it is read again, by another child. */
const speaksOfOther = () => new Error('a parser process speaks of a document that is over');
const tookTooLong = () => new IngestError('timeout', 'Reading the document took too long.');

/** Makes the end of a task: its first end counts. A child that sends anything after it is killed. */
function createEnd(child: ParserChild, taken: Pick<TaskEnd, 'chunks' | 'picture'>) {
  let resolve: (end: TaskEnd) => void = () => undefined;
  const promise = new Promise<TaskEnd>((settle) => {
    resolve = settle;
  });
  const finish = (end: Omit<TaskEnd, keyof typeof taken>): void => {
    child.listen(() => {
      child.kill();
    });
    resolve({ ...taken, ...end });
  };
  const lose = (error: Error, isCrash = false): void => {
    finish({ ...NOTHING, error, isLost: true, isCrash, residentBytes: 0 });
  };
  return { promise, finish, lose };
}

/** Holds at most one timer at a time, and none after `stop`. */
function createClock() {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  return {
    set(milliseconds: number, expire: () => void): void {
      clearTimeout(timer);
      if (!isStopped) timer = setTimeout(expire, milliseconds);
    },
    stop(): void {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

function endOf(
  message: Extract<ChildMessage, { type: 'done' | 'failed' }>,
): Omit<TaskEnd, 'chunks' | 'picture'> {
  const { receipt, attachments } = message.type === 'done' ? message : NOTHING;
  const error = message.type === 'failed' ? new IngestError(message.code, message.message) : undefined;
  const { residentBytes } = message;
  return { receipt, attachments, error, isLost: false, isCrash: false, residentBytes };
}

/** A crash counts as the document's fault, since it would happen again. A kill from outside does not. */
function deathError({ code, signal, stderr }: ParserExit): Error {
  const isCrash = (signal !== null && CRASH_SIGNALS.has(signal)) || (code !== null && CRASH_CODES.has(code));
  const isMemory = /out of memory|allocation (of \d+ bytes )?fail|bad_alloc|cannot allocate|heap limit/i.test(
    stderr,
  );
  if (isMemory) return new IngestError('too_large', 'The document needs more memory than a parser has.');
  if (isCrash) return new IngestError('corrupt', 'The document makes the parser fail.');
  return new Error(`parser process ended early (${signal ?? String(code)})`);
}

/** Most messages that a picture may come in. */
const MAX_PARTS = 1_000;
/**
 * The characters that chunks may repeat of the ones before, for each character that they do not repeat: a few times the
 * overlap of the settings, because letters differ in their tokens.
 */
const MAX_REPEATED = 8;
const REPEATED_ALLOWANCE = 16 * 1024 * 1024;

interface Limits {
  /** The size of the file, or the length of the text, that the child reads. */
  readonly sourceSize: number;
  readonly timeoutMilliseconds: number;
  readonly onProgress?: ((share: number) => void) | undefined;
}

/**
 * Collects the messages of a child about a task, within the bounds of a document of its size: a file may have taken it
 * over.
 */
function createResultCollector(task: ChildTask, { timeoutMilliseconds, ...limits }: Limits) {
  const chunks: ChunkText[] = [];
  const picture: string[] = [];
  const text = 'chunk' in task ? createTextCount(task, limits.sourceSize) : null;
  let progressLeft = 2 + (2 * timeoutMilliseconds) / PROGRESS_MILLISECONDS;
  /** Returns whether that is more than there can be. */
  const add = (message: ChildMessage): boolean => {
    switch (message.type) {
      case 'progress':
        limits.onProgress?.(message.share);
        return (progressLeft -= 1) < 0;
      case 'chunks':
        for (const chunk of message.chunks) chunks.push(chunk);
        return text?.add(message.chunks) ?? true;
      case 'picture':
        return picture.push(message.part) > MAX_PARTS;
      default:
        return false;
    }
  };
  const isWhole = ({ receipt }: Extract<ChildMessage, { type: 'done' }>): boolean =>
    text === null ? picture.length > 0 : text.characters() === receipt?.characters && chunks.length > 0;
  return {
    chunks,
    picture,
    /** Takes a part of the result. Returns why the child is not to be heard any more. */
    take: (message: ChildMessage): IngestError | null => {
      if (add(message)) return saysTooMuch();
      return message.type === 'done' && !isWhole(message) ? notValid() : null;
    },
  };
}

/** Counts the text of chunks, and their repeated text. */
function createTextCount(task: ParseTask, sourceSize: number) {
  const { size, overlap, maxChunks = Infinity } = task.chunk;
  const most = mostText(task, sourceSize);
  const mostRepeated = (MAX_REPEATED * size) / Math.max(1, size - overlap);
  let chunks = 0;
  let fresh = 0;
  let repeated = 0;
  return {
    characters: () => fresh,
    /** Returns whether that is more than a source of this size holds. */
    add: (more: readonly ChunkText[]): boolean => {
      chunks += more.length;
      for (const chunk of more) {
        fresh += chunk.text.length - chunk.overlap;
        repeated += chunk.overlap;
      }
      const headers = MAX_HEADER_CHARACTERS * chunks;
      const mayRepeat = REPEATED_ALLOWANCE + headers + mostRepeated * fresh;
      return chunks > maxChunks || fresh > most || repeated > mayRepeat;
    },
  };
}

const notValid = () => new IngestError('corrupt', 'The document makes the parser say what is not valid.');
const saysTooMuch = () => new IngestError('too_large', 'The parser said more than it may.');
