import { open } from 'node:fs/promises';

const CHUNK_BYTES = 64 * 1024;
/** Longer than any line that is written. */
export const MAX_LINE_BYTES = 8 * 1024 ** 2;
const NEWLINE = 10;

/** Gives the lines of a file; null for each that is too long. Between reads the file is closed, so that any number is read at once. */
export async function* fileLines(path: string): AsyncGenerator<string | null> {
  const line = createLine();
  for await (const chunk of chunksOf(path)) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      line.add(chunk.subarray(start, end));
      yield line.take();
      start = end + 1;
    }
    line.add(chunk.subarray(start));
  }
  if (!line.isEmpty()) yield line.take();
}

/** Gathers the parts of a line; of a line that is too long, none. */
function createLine() {
  let parts: Buffer[] = [];
  let size = 0;
  return {
    add: (part: Buffer) => {
      size += part.length;
      if (size > MAX_LINE_BYTES) parts = [];
      else parts.push(part);
    },
    isEmpty: () => size === 0,
    take: (): string | null => {
      const text = size > MAX_LINE_BYTES ? null : Buffer.concat(parts).toString();
      parts = [];
      size = 0;
      return text;
    },
  };
}

async function* chunksOf(path: string): AsyncGenerator<Buffer> {
  let position = 0;
  for (;;) {
    const chunk = await readAt(path, position);
    if (chunk.length === 0) return;
    position += chunk.length;
    yield chunk;
  }
}

async function readAt(path: string, position: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, position);
    // A small file takes no more memory than it has bytes, since many are read at once.
    return bytesRead < CHUNK_BYTES ? Buffer.from(buffer.subarray(0, bytesRead)) : buffer;
  } finally {
    await file.close();
  }
}
