import { Socket } from 'node:net';
import type { Readable } from 'node:stream';

/** Longer messages are not read. A batch of text that is all escapes takes half of it. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const LINE_END = 0x0a;

/**
 * Reads messages between a worker and its parser process, each a line of JSON. Only a line feed ends a line: other ends
 * that readline knows (in Node 24 U+2028 and U+2029) may stand within the JSON of a text. Nothing that comes over the pipe
 * ends this process, as it might over a channel of Node.js, because a file may have taken the parser over.
 *
 * @param hear gets each message, and `undefined` for a line that is none; after a line that is too long it hears no more
 */
export function readMessages(stream: Readable, hear: (message: unknown) => void): void {
  let parts: Buffer[] = [];
  let length = 0;
  const end = (): void => {
    const line = Buffer.concat(parts, length).toString('utf8');
    parts = [];
    length = 0;
    hear(parsed(line));
  };
  const keep = (part: Buffer): void => {
    parts.push(part);
    length += part.length;
    if (length <= MAX_MESSAGE_BYTES) return;
    parts = [];
    stream.destroy();
    hear(undefined);
  };
  stream.on('data', (bytes: Buffer) => {
    let from = 0;
    for (let to = bytes.indexOf(LINE_END); to !== -1; to = bytes.indexOf(LINE_END, from)) {
      keep(bytes.subarray(from, to));
      if (stream.destroyed) return;
      end();
      from = to + 1;
    }
    keep(bytes.subarray(from));
  });
  // The exit of the process tells the reason.
  stream.on('error', () => undefined);
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** The descriptor of a parser process over which it sends its messages. Its tasks come over its standard input. */
const MESSAGES = 3;

/** The parser process's end of the channel to its worker: a line of JSON for each task and message. */
interface ChildChannel {
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
