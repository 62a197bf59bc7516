import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { AppError, TryLaterError } from '../../../../shared/errors.js';
import { nextSlice } from '../../../../shared/tools/time-slices.js';
import type { IncomingItem } from '../../../services/ingest/incoming-items.js';
import { AbandonedError } from '../../../services/abandoned-error.js';
import { tokenEnded } from '../../../auth/authentication.js';
import { HttpError } from '../../http-error.js';
import { parseRequest } from '../../validation/parse-request.js';
import { ClientGoneError, type BodyReading } from '../body.js';
import { BodyStream } from './body-stream.js';
import type { ItemsTarget } from './items-target.js';
import { LineSplitter, type Line } from './line-splitter.js';
import { createParser, GROUP_ITEMS } from './parse-items.js';

/**
 * Parses the lines of a stream, in groups. Bytes that arrive while a group is stored are read up to 64 KiB; then the client
 * has to wait. Where the stream ends too early, the last item says why, under the number of the line that comes next.
 * @throws ClientGoneError
 */
export async function* groupLines<Item, Common>(
  request: IncomingMessage,
  reading: BodyReading,
  target: ItemsTarget<Item, Common>,
): AsyncGenerator<readonly IncomingItem<Item>[]> {
  const { claim, maxBytes, graceSeconds } = reading;
  // This may throw, and so comes first.
  const lines = new LineSplitter({ maxLineBytes: maxBytes, claim });
  const stream = new BodyStream(request, graceSeconds);
  const giveWay = () => {
    stream.end(new HttpError(408, 'The request body comes too slowly while others need the memory'));
  };
  const stopReading = claim.whileReading(giveWay);
  const stopWatching = endWhen(stream, target);
  const common = parseRequest(target.common, {}, 'body');
  const parseLine = createParser(reading, target, { common, list: null });
  const parser: ParseItem<Item> = async (index, bytes) => {
    // A large line is parsed elsewhere, and its bytes are gone then.
    const digest = target.withDigests ? createHash('sha256').update(bytes).digest('base64url') : undefined;
    return { ...(await parseLine(index, bytes)), digest };
  };
  try {
    for (let bytes = await stream.next(); bytes; bytes = await stream.next()) {
      // The arrived bytes may be thirty thousand lines.
      await nextSlice();
      yield* inGroups(lines.push(bytes), parser);
      lines.giveBack();
    }
    yield* inGroups(lines.finish(), parser);
  } catch (error) {
    // The client has been told nothing of the lines after this one.
    if (!(error instanceof AppError) || error instanceof ClientGoneError) throw error;
    yield [{ index: lines.next, error }];
  } finally {
    stopReading();
    stopWatching();
    stream.close();
  }
}

/** Ends a stream when the service stops, or the token ends that it came with. Returns a function that ends the watch. */
function endWhen(
  stream: BodyStream,
  { stopping, whileValid }: Pick<ItemsTarget<unknown, unknown>, 'stopping' | 'whileValid'>,
): () => void {
  const stop = () => {
    stream.end(new TryLaterError('The service is stopping', { retryAfterSeconds: 2 }));
  };
  const expire = () => {
    // A client that goes away breaks the stream off by itself.
    const reason: unknown = whileValid.reason;
    if (reason instanceof AbandonedError && reason.code === 'token_ended') stream.end(tokenEnded());
  };
  stopping.addEventListener('abort', stop, { once: true });
  whileValid.addEventListener('abort', expire, { once: true });
  if (stopping.aborted) stop();
  if (whileValid.aborted) expire();
  return () => {
    stopping.removeEventListener('abort', stop);
    whileValid.removeEventListener('abort', expire);
  };
}

type ParseItem<Item> = (index: number, bytes: Buffer) => Promise<IncomingItem<Item>>;

async function* inGroups<Item>(
  lines: readonly Line[],
  parser: ParseItem<Item>,
): AsyncGenerator<readonly IncomingItem<Item>[]> {
  for (let first = 0; first < lines.length; first += GROUP_ITEMS) {
    const group: IncomingItem<Item>[] = [];
    for (const { number, bytes, error } of lines.slice(first, first + GROUP_ITEMS))
      group.push(bytes ? await parser(number, bytes) : { index: number, error });
    yield group;
  }
}
