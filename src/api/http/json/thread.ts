import { parentPort } from 'node:worker_threads';
import { parseJson } from './json.js';
import type { JsonAnswer } from './reader.js';

/** The thread that parses large bodies: it answers one after the other, in the order of asking. */
const port = parentPort;
if (!port) throw new Error('runs in a worker thread only');

const answer = (bytes: Uint8Array): JsonAnswer => {
  try {
    return { type: 'value', value: parseJson(bytes) };
  } catch {
    return { type: 'invalid' };
  }
};
port.on('message', (bytes: Uint8Array) => {
  port.postMessage(answer(bytes));
});
