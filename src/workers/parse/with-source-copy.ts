import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

interface Copying {
  /** The folder for the copy, which is the folder of the parser pool. */
  readonly incoming: string;
  readonly signal: AbortSignal;
}

/** Copies a source to a temporary file while `run` uses it. */
export async function withSourceCopy<Result>(
  source: AsyncIterable<Uint8Array>,
  { incoming, signal }: Copying,
  run: (path: string) => Promise<Result>,
): Promise<Result> {
  const path = join(incoming, randomUUID());
  try {
    await pipeline(source, createWriteStream(path), { signal });
    return await run(path);
  } finally {
    await rm(path, { force: true });
  }
}
