import { parentPort } from 'node:worker_threads';
import { parseJson } from './json.js';
import type { JsonAnswer } from './reader.js';

/** This thread parses large bodies, one after the other, in the order in which it gets them. */
const port = parentPort;
if (!port) throw new Error('this file must run in a worker thread');

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
