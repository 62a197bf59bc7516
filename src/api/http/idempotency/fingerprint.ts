import { createHash, type Hash } from 'node:crypto';
import type { IncomingFile } from '../../services/ingest/incoming.js';
import type { ReceiveFiles, ReceiveUpload } from '../request/upload.js';

/** The method and the address of a request, query string included. */
export interface Place {
  readonly method: string;
  readonly url: string;
}

/** Returns the fingerprint of a request with a body of bytes: SHA-256 over its place and these bytes. */
export function fingerprintBytes({ method, url }: Place, bytes: Uint8Array): string {
  return createHash('sha256')
    .update(`${JSON.stringify([method, url])}\n`)
    .update(bytes)
    .digest('base64url');
}

/** Returns the fingerprint of a stream of lines, before its lines are compared, each of them by itself. */
export const fingerprintLines = ({ method, url }: Place): string =>
  createHash('sha256')
    .update(`${JSON.stringify([method, url, 'lines'])}\n`)
    .digest('base64url');

/**
 * Tells the fingerprint of an upload, once it has been received: SHA-256 over its place and over the digests of its parts,
 * which are made while the parts stream by. Neither the boundary nor the order of the parts matters. Fields that the route
 * does not read do not count.
 *
 * @param onReceived may throw to refuse the upload; the stored parts are removed then
 */
export function fingerprintUpload(
  receive: ReceiveUpload,
  { method, url }: Place,
  onReceived: (fingerprint: string) => void,
): ReceiveUpload {
  return async (target) => {
    const parts = new Map<string, string>();
    const received = await receive({
      ...target,
      onField: (name, value) => {
        parts.set(`field ${name}`, digestOf(createHash('sha256').update(value ?? '')));
        target.onField?.(name, value);
      },
      storeFile: (file) => target.storeFile({ ...file, bytes: hashed(file, parts) }),
    });
    const sorted = [...parts].sort(([one], [other]) => (one < other ? -1 : 1));
    onReceived(fingerprintBytes({ method, url }, Buffer.from(JSON.stringify(sorted))));
    return received;
  };
}

/** The same for a form with many files, whose order matters. Bytes of a file that the target does not read are read here. */
export function fingerprintFiles(
  receive: ReceiveFiles,
  { method, url }: Place,
  onReceived: (fingerprint: string) => void,
): ReceiveFiles {
  return async (target) => {
    const files: string[] = [];
    const fields = new Map<string, string>();
    const received = await receive({
      ...target,
      onField: (name, text) => {
        fields.set(name, digestOf(createHash('sha256').update(text)));
      },
      store: async (file) => {
        const { bytes, hash, finish } = hashedToEnd(file);
        // A later file may be stored before this one is.
        const place = files.push('') - 1;
        const stored = await target.store({ ...file, bytes });
        await finish();
        files[place] = digestOf(hash);
        return stored;
      },
    });
    const sorted = [...fields].sort(([one], [other]) => (one < other ? -1 : 1));
    onReceived(fingerprintBytes({ method, url }, Buffer.from(JSON.stringify([sorted, files]))));
    return received;
  };
}

/** Returns the bytes of a file. A reader that stops leaves the rest to be read later. */
function hashedToEnd({ filename, declaredType, bytes }: IncomingFile) {
  const hash = createHash('sha256').update(`${JSON.stringify([filename, declaredType])}\n`);
  const source = bytes[Symbol.asyncIterator]();
  const next = async (): Promise<IteratorResult<Uint8Array>> => {
    const result = await source.next();
    if (result.done !== true) hash.update(result.value);
    return result;
  };
  const finish = async (): Promise<void> => {
    while ((await next()).done !== true);
  };
  return { hash, bytes: { [Symbol.asyncIterator]: () => ({ next }) }, finish };
}

async function* hashed(
  { filename, declaredType, bytes }: IncomingFile,
  parts: Map<string, string>,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256').update(`${JSON.stringify([filename, declaredType])}\n`);
  for await (const part of bytes) {
    hash.update(part);
    yield part;
  }
  parts.set('file', digestOf(hash));
}

const digestOf = (hash: Hash): string => hash.digest('base64url');
