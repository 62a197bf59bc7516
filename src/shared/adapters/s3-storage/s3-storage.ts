import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { createDeadline } from '../../tools/deadline.js';
import { UnavailableError } from '../../errors.js';
import { MissingObjectError, type ObjectStorage } from '../../ports.js';
import { assertObjectKey } from '../../storage/object-key.js';
import { component, createCallS3, type CallS3, type S3Connection } from './call.js';
import { beginUpload, inParts, type Upload } from './multipart.js';
import { refusalOf, statusOf, type Refusal } from './refusal.js';

/** Longer than a probe may take, and shorter than a health check waits. */
const CHECK_MILLISECONDS = 5_000;
/** Writing costs money. While all is well, a check writes this often and otherwise only asks for the bucket. */
const WRITTEN_AGAIN_AFTER_MILLISECONDS = 60_000;

export interface S3StorageOptions extends S3Connection {
  readonly bucket: string;
  /** Called with the error when parts of a failed upload could not be removed. */
  readonly onLeftBehind: (error: unknown) => void;
}

export interface S3Storage extends ObjectStorage {
  /** Asks S3 whether it accepts the settings; null when it does, or when it does not answer. */
  findRefusal(): Promise<Refusal | null>;
}

/**
 * Keeps objects in a bucket of S3 or a compatible server. An object is one request, or a multipart upload when it is larger
 * than a part, so that it is there whole or not at all, and memory holds a few parts of it at most.
 */
export function createS3Storage({ bucket, onLeftBehind, ...connection }: S3StorageOptions): S3Storage {
  const { timeoutMilliseconds } = connection;
  const call = createCallS3(connection);
  const writing = createWritingCheck(call, bucket, Math.min(CHECK_MILLISECONDS, timeoutMilliseconds));
  return {
    bucket,
    put: async (key, source) => {
      assertObjectKey(key);
      await writing.watch(() => store(call, { bucket, key }, { source, onLeftBehind }));
    },
    open: async (key) => {
      assertObjectKey(key);
      const size = await sizeOf(call, { bucket, key });
      return {
        size,
        [Symbol.asyncIterator]: () => read(call, { bucket, key, size, timeoutMilliseconds }),
      };
    },
    remove: async (key) => {
      assertObjectKey(key);
      await call((s3, options) => s3.deleteObject({ Bucket: bucket, Key: key }, options));
    },
    check: writing.check,
    findRefusal: () => findRefusal(call, bucket),
  };
}

/** Remembers when a write last succeeded, so that a check writes only when that is long ago. */
function createWritingCheck(call: CallS3, bucket: string, milliseconds: number) {
  let writtenAt = -Infinity;
  return {
    /** Takes note of whether a write succeeds. */
    watch: async (write: () => Promise<void>): Promise<void> => {
      try {
        await write();
        writtenAt = performance.now();
      } catch (error) {
        // The next check finds out whether writing still works.
        if (error instanceof UnavailableError) writtenAt = -Infinity;
        throw error;
      }
    },
    check: async (): Promise<void> => {
      const isWritable = performance.now() - writtenAt < WRITTEN_AGAIN_AFTER_MILLISECONDS;
      if (isWritable) {
        await call((s3, options) => s3.headBucket({ Bucket: bucket }, options), milliseconds);
        return;
      }
      await probe(call, bucket, milliseconds);
      writtenAt = performance.now();
    },
  };
}

async function findRefusal(call: CallS3, bucket: string): Promise<Refusal | null> {
  try {
    // HeadBucket would not do: the answer to a HEAD has no body, and so does not tell the fault.
    await call(
      (s3, options) => s3.listObjectsV2({ Bucket: bucket, MaxKeys: 1 }, options),
      CHECK_MILLISECONDS,
    );
    return null;
  } catch (error) {
    return refusalOf(error instanceof UnavailableError ? error.cause : error);
  }
}

interface ObjectName {
  readonly bucket: string;
  readonly key: string;
}

interface Stored {
  readonly source: AsyncIterable<Uint8Array>;
  readonly onLeftBehind: (error: unknown) => void;
}

async function store(call: CallS3, { bucket, key }: ObjectName, stored: Stored): Promise<void> {
  const target = { Bucket: bucket, Key: key };
  let upload: Upload | null = null;
  let first: Buffer | null = null;
  try {
    for await (const part of inParts(stored.source)) {
      if (upload) await upload.add(part);
      else if (first) {
        upload = await beginUpload(call, target);
        await upload.add(first);
        first = null;
        await upload.add(part);
      } else first = part;
    }
    const Body = first ?? Buffer.alloc(0);
    if (upload) await upload.complete();
    else await call((s3, options) => s3.putObject({ ...target, Body }, options));
  } catch (error) {
    await upload?.abort().catch(stored.onLeftBehind);
    throw error;
  }
}

/** @throws MissingObjectError, but UnavailableError when the whole bucket is missing */
async function sizeOf(call: CallS3, { bucket, key }: ObjectName): Promise<number> {
  try {
    const { ContentLength } = await call((s3, options) =>
      s3.headObject({ Bucket: bucket, Key: key }, options),
    );
    if (ContentLength === undefined) throw new UnavailableError(component);
    return ContentLength;
  } catch (error) {
    if (!isMissing(error)) throw error;
    // The answer to a HEAD does not say whether the object or the bucket is missing.
    await call((s3, options) => s3.headBucket({ Bucket: bucket }, options));
    throw new MissingObjectError(key);
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof UnavailableError && statusOf(error.cause) === 404;

interface Reading extends ObjectName {
  readonly size: number;
  /** S3 may be silent for this long. */
  readonly timeoutMilliseconds: number;
}

/** Opens a connection when the first bytes are asked for, and closes it however the reading ends. */
async function* read(call: CallS3, reading: Reading): AsyncGenerator<Uint8Array> {
  const body = await openBody(call, reading);
  const deadline = createDeadline(reading.timeoutMilliseconds);
  deadline.signal.addEventListener('abort', () => body.destroy(new Error('S3 has fallen silent')));
  let left = reading.size;
  try {
    for await (const bytes of body) {
      if (!(bytes instanceof Uint8Array)) throw new Error('S3 sent something else than bytes');
      left -= bytes.length;
      if (left < 0) break;
      // The time that the reader takes is not S3's.
      deadline.pause();
      yield bytes;
      deadline.extend();
    }
  } catch (cause) {
    throw new UnavailableError(component, { cause });
  } finally {
    deadline.clear();
    body.destroy();
  }
  // An object never changes, so that one which is shorter or longer than it was is damaged.
  if (left !== 0) throw new UnavailableError(component);
}

async function openBody(call: CallS3, { bucket, key }: ObjectName): Promise<Readable> {
  try {
    const { Body } = await call((s3, options) => s3.getObject({ Bucket: bucket, Key: key }, options));
    if (!(Body instanceof Readable)) throw new Error('S3 answered without a body');
    return Body;
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new MissingObjectError(key);
  }
}

/** Writes, reads and removes an object that only this check uses. */
async function probe(call: CallS3, bucket: string, milliseconds: number): Promise<void> {
  const name = { Bucket: bucket, Key: `probes/${randomUUID()}` };
  await call((s3, options) => s3.putObject({ ...name, Body: Buffer.from('probe') }, options), milliseconds);
  try {
    const { ContentLength } = await call((s3, options) => s3.headObject(name, options), milliseconds);
    if (ContentLength !== 5) throw new UnavailableError(component);
  } finally {
    await call((s3, options) => s3.deleteObject(name, options), milliseconds);
  }
}
