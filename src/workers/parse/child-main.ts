import { readFile } from 'node:fs/promises';
import { constants, getPriority, setPriority } from 'node:os';
import { ReadError, renderPage } from '../../readers/index.js';
import { IngestError } from '../../shared/errors.js';
import { packWhereabouts, type ChunkText } from '../../shared/chunks/fields.js';
import { openChildChannel } from './child-channel.js';
import {
  BATCH_LENGTH,
  PROGRESS_MILLISECONDS,
  type ChildMessage,
  type ChildTask,
  type ParseTask,
  type RenderTask,
} from './protocol.js';
import { parseAndChunk } from './parse-and-chunk.js';

// Parsing runs at a lower priority, so that searches come first when processor time is short. The priority is never
// raised: a service that runs at an even lower one may not be allowed to raise it.
if (getPriority() < constants.priority.PRIORITY_BELOW_NORMAL)
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

/** Most characters of a message about an error that is none of the document. */
const MAX_CHARACTERS = 1_000;

const channel = openChildChannel(() => {
  process.exit(0);
});

/** Resolves when the message is written to the channel, so that at most one batch waits in memory. */
const send = (message: ChildMessage): Promise<void> => channel.send(message);

async function sendChunks(id: number, chunks: readonly ChunkText[]): Promise<void> {
  let batch: ChunkText[] = [];
  let length = 0;
  for (const chunk of chunks) {
    batch.push(chunk);
    length += chunk.text.length + packWhereabouts(chunk).length;
    if (length >= BATCH_LENGTH) {
      await send({ type: 'chunks', id, chunks: batch });
      batch = [];
      length = 0;
    }
  }
  if (batch.length > 0) await send({ type: 'chunks', id, chunks: batch });
}

type Sent = Pick<Extract<ChildMessage, { type: 'done' }>, 'receipt' | 'attachments'>;

async function sendPicture({ id, page, boxes, source }: RenderTask): Promise<Sent> {
  const picture = Buffer.from(await renderPage(await readFile(source.path), page, boxes)).toString('base64');
  for (let at = 0; at < picture.length; at += BATCH_LENGTH)
    await send({ type: 'picture', id, part: picture.slice(at, at + BATCH_LENGTH) });
  return { receipt: null, attachments: [] };
}

async function sendDocument(task: ParseTask): Promise<Sent> {
  let last = performance.now();
  const { chunks, receipt, attachments } = await parseAndChunk(task, (share) => {
    const now = performance.now();
    if (now - last < PROGRESS_MILLISECONDS) return;
    last = now;
    void send({ type: 'progress', id: task.id, share });
  });
  await sendChunks(task.id, chunks);
  return { receipt, attachments };
}

async function run(task: ChildTask): Promise<void> {
  const { id } = task;
  try {
    const done = 'boxes' in task ? await sendPicture(task) : await sendDocument(task);
    await send({ type: 'done', id, ...done, residentBytes: process.memoryUsage.rss() });
  } catch (error) {
    await send(failureMessage(id, error));
  }
}

function failureMessage(id: number, error: unknown): ChildMessage {
  const residentBytes = process.memoryUsage.rss();
  if (error instanceof IngestError || error instanceof ReadError)
    return { type: 'failed', id, code: error.code, message: error.message, residentBytes };
  if (error instanceof RangeError)
    return {
      type: 'failed',
      id,
      code: 'too_large',
      message: 'The document needs more memory than a parser has.',
      residentBytes,
    };
  return {
    type: 'broken',
    id,
    message:
      error instanceof Error ? `${error.name}: ${error.message}`.slice(0, MAX_CHARACTERS) : 'unknown error',
  };
}

/** The worker is our own code, so that no more of a task is looked at. */
const isTask = (message: unknown): message is ChildTask =>
  typeof message === 'object' && message !== null && 'id' in message;

channel.listen((task) => {
  if (!isTask(task)) throw new TypeError('a worker sends tasks alone');
  void run(task);
});
// pdf.js leaves promises of damaged files behind that reject when nobody waits for them any more. They would end the
// process while it reads the next document. A promise that a parser waits for is reported by the parser's own error.
process.on('unhandledRejection', () => undefined);
// A terminal sends SIGINT to the whole process group, but the pool decides when children end.
process.on('SIGINT', () => undefined);
await send({ type: 'ready' });
