import type { Response } from 'express';
import { abandonIterator } from './async-iterables.js';
import type { ApiReply } from './reply.js';
import { writeWithBackpressure } from './write-with-backpressure.js';

type Lines = Extract<ApiReply, { type: 'lines' }>;

/** Sends lines of JSON, each group of them as soon as it is there. An error cuts the response off. */
export async function sendLines(response: Response, { status, lines }: Lines): Promise<void> {
  const iterator = lines[Symbol.asyncIterator]();
  try {
    let group = await iterator.next();
    response.status(status);
    // Express would add a charset, which JSON does not have.
    response.setHeader('Content-Type', 'application/x-ndjson');
    response.setHeader('X-Accel-Buffering', 'no');
    for (; group.done !== true; group = await iterator.next()) {
      const text = group.value.map((line) => `${JSON.stringify(line)}\n`).join('');
      if (text !== '') await writeWithBackpressure(response, text);
    }
  } catch (error) {
    await abandonIterator(iterator, error);
    throw error;
  }
  response.end();
}
