import { parentPort } from 'node:worker_threads';
import { parseJson, type JsonAnswer, type JsonQuestion } from './json.js';

/** This thread parses large bodies, one after the other, in the order in which it gets them. */
const port = parentPort;
if (!port) throw new Error('this file must run in a worker thread');

const answer = ({ bytes, ...options }: JsonQuestion): JsonAnswer => {
  try {
    return { type: 'value', value: parseJson(bytes, options) };
  } catch {
    return { type: 'invalid' };
  }
};
port.on('message', (question: JsonQuestion) => {
  port.postMessage(answer(question));
});
