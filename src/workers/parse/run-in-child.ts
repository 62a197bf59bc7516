import type { KeptAttachment } from '../../shared/extraction/kept-attachment.js';
import type { Receipt } from '../../shared/extraction/receipt.js';
import { IngestError } from '../../shared/errors.js';
import type { ChunkText } from '../../shared/chunks/fields.js';
import { checkMessage } from './check-message.js';
import type { ParserChild, ParserExit } from './child-process.js';
import type { ChildMessage, ChildTask } from './protocol.js';

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

/** What a child has when it fails. */
const NOTHING = { receipt: null, attachments: [] };

export interface RunLimits {
  readonly signal: AbortSignal | undefined;
  /** The maximum time from the moment when the child gets the document. */
  readonly timeoutMilliseconds: number;
  /** Is told now and then which share of the document's parts is read, from 0 to 1. */
  readonly onProgress?: ((share: number) => void) | undefined;
}

/** Passes one document to a child and collects the result. Ends early when the child exits, the time is over, or the caller aborts. */
export async function runInChild(
  child: ParserChild,
  task: ChildTask,
  { signal, timeoutMilliseconds, onProgress }: RunLimits,
): Promise<TaskEnd> {
  const { chunks, picture }: Taken = { chunks: [], picture: [] };
  const clock = createClock();
  const { promise, resolve } = createEnd();
  const lose = (error: Error, isCrash = false): void => {
    resolve({ chunks, picture, ...NOTHING, error, isLost: true, isCrash, residentBytes: 0 });
  };
  const abort = (): void => {
    lose(new Error('aborted'));
  };
  const hear = (said: unknown): void => {
    const message = checkMessage(task, said);
    if (message === undefined) lose(notValid());
    if (!message || message.type === 'ready') return;
    if (!take(task, message, { chunks, picture, onProgress })) lose(saysTooMuch());
    if (message.type === 'broken') lose(new Error(`parser failed: ${message.message}`));
    if (message.type === 'done' || message.type === 'failed') resolve({ chunks, picture, ...endOf(message) });
  };
  signal?.addEventListener('abort', abort, { once: true });
  void child.exited.then((exit) => {
    const error = deathError(exit);
    lose(error, error instanceof IngestError);
  });
  clock.set(STARTUP_MILLISECONDS, () => lose(new Error('a parser process did not start in time')));
  child.listen(hear);
  void child.ready.then(async () => {
    clock.set(timeoutMilliseconds, () => lose(tookTooLong()));
    await child.send(task);
  });
  try {
    return await promise;
  } finally {
    clock.stop();
    signal?.removeEventListener('abort', abort);
  }
}

/** The parts of the result that a child has sent. */
interface Taken {
  readonly chunks: ChunkText[];
  readonly picture: string[];
}

/** Most messages that a picture may come in. */
const MOST_PARTS = 1_000;

/** Takes a part of the result, or what is told of it. False when there is too much: a child that a document has taken over could fill the memory. */
function take(
  task: ChildTask,
  message: ChildMessage,
  { chunks, picture, onProgress }: Taken & Pick<RunLimits, 'onProgress'>,
): boolean {
  if (message.type === 'progress') onProgress?.(message.share);
  if (message.type === 'chunks') for (const chunk of message.chunks) chunks.push(chunk);
  if (message.type === 'picture') picture.push(message.part);
  const most = 'chunk' in task ? (task.chunk.maxChunks ?? Infinity) : 0;
  return chunks.length <= most && picture.length <= MOST_PARTS;
}

const notValid = () => new IngestError('corrupt', 'The document makes the parser say what is not valid.');
const saysTooMuch = () => new IngestError('too_large', 'The parser said more than it may.');
const tookTooLong = () => new IngestError('timeout', 'Reading the document took too long.');

function createEnd() {
  let resolve: (end: TaskEnd) => void = () => undefined;
  const promise = new Promise<TaskEnd>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
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
  const isMemory = /out of memory|allocation fail|bad_alloc|cannot allocate|heap limit/i.test(stderr);
  if (isMemory) return new IngestError('too_large', 'The document needs more memory than a parser has.');
  if (isCrash) return new IngestError('corrupt', 'The document makes the parser fail.');
  return new Error(`parser process ended early (${signal ?? String(code)})`);
}
