import { Socket } from 'node:net';
import { readMessages } from './read-messages.js';

/** The descriptor of a parser process over which it sends its messages. Its tasks come over its standard input. */
const MESSAGES = 3;

/** The parser process's end of the channel to its worker: a line of JSON for each task and message. */
export interface ChildChannel {
  /** Resolves when the message is handed to the system, so that a slow reader slows the sender down. */
  send(message: unknown): Promise<void>;
  /** Sets the function that gets the tasks. */
  listen(run: (task: unknown) => void): void;
}

/** Opens the channel. @param leave is called when the worker has ended */
export function openChildChannel(leave: () => void): ChildChannel {
  const output = new Socket({ fd: MESSAGES, readable: false, writable: true });
  output.on('error', leave);
  process.stdin.on('close', leave);
  return {
    send: (message) =>
      new Promise((resolve, reject) => {
        output.write(`${JSON.stringify(message)}\n`, (error) => {
          if (error) reject(error);
          else resolve();
        });
      }),
    listen(run) {
      readMessages(process.stdin, run);
    },
  };
}
