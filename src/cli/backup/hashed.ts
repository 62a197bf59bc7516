import { createHash } from 'node:crypto';
import type { ObjectStorage } from '../../shared/ports.js';
import { UserError } from '../user-messages.js';

/** The size of an object, and the SHA-256 of its bytes as they are stored. */
export interface Hashed {
  readonly bytes: number;
  readonly sha256: string;
}

/** Stores a stream and answers with the hash of the stored bytes. */
export async function putHashed(
  storage: ObjectStorage,
  key: string,
  source: AsyncIterable<Uint8Array>,
): Promise<Hashed> {
  const hash = createHash('sha256');
  let bytes = 0;
  await storage.put(key, tapped());
  return { bytes, sha256: hash.digest('hex') };

  async function* tapped(): AsyncGenerator<Uint8Array> {
    for await (const piece of source) {
      hash.update(piece);
      bytes += piece.length;
      yield piece;
    }
  }
}

/** Reads the object at `key`. @throws UserError at its end, when it is not as the part says */
export async function* openVerified(
  storage: ObjectStorage,
  key: string,
  part: Hashed,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of await storage.open(key)) {
    hash.update(piece);
    bytes += piece.length;
    yield piece;
  }
  if (bytes !== part.bytes || hash.digest('hex') !== part.sha256)
    throw new UserError(`${key} of the backup is damaged: its bytes are not those that were written.`);
}

export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}

export async function readAll(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of source) pieces.push(piece);
  return Buffer.concat(pieces);
}
