import type { Response } from 'express';
import { jsonPieces, jsonText } from './json-pieces.js';
import { abandonIterator } from './async-iterables.js';
import { startJson } from './send-json.js';
import { PIECE_BYTES, writeWithBackpressure } from './write-with-backpressure.js';

/** Sends a JSON array item by item, in pieces of about 64 KiB. */
export async function sendItems(
  response: Response,
  items: AsyncIterable<unknown>,
  { isHead }: { isHead: boolean },
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]();
  let piece = '[';
  try {
    let item = await iterator.next();
    for (let separator = ''; item.done !== true && !isHead; separator = ',') {
      piece += separator;
      const whole = jsonText(item.value);
      for await (const text of whole === null ? jsonPieces(item.value) : [whole]) {
        piece += text;
        if (piece.length < PIECE_BYTES) continue;
        // The headers leave with the first piece, so that an error before it can still be answered with its status.
        if (!response.headersSent) startJson(response, 200);
        await writeWithBackpressure(response, piece);
        piece = '';
      }
      item = await iterator.next();
    }
  } catch (error) {
    await abandonIterator(iterator, error);
    throw error;
  }
  if (isHead) await iterator.return?.();
  if (!response.headersSent) startJson(response, 200);
  response.end(isHead ? undefined : `${piece}]`);
}
