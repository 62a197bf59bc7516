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
