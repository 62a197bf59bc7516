import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { S3 } from '@aws-sdk/client-s3';
import { UnavailableError } from '../../errors.js';
import { MissingObjectError, type ObjectStorage } from '../../ports.js';
import { assertObjectKey } from '../../storage/sources.js';
import { createDeadline } from '../../tools/aborting.js';
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
    if (ContentLength === undefined) throw new UnavailableError(COMPONENT);
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
    throw new UnavailableError(COMPONENT, { cause });
  } finally {
    deadline.clear();
    body.destroy();
  }
  // An object never changes, so that one which is shorter or longer than it was is damaged.
  if (left !== 0) throw new UnavailableError(COMPONENT);
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
    if (ContentLength !== 5) throw new UnavailableError(COMPONENT);
  } finally {
    await call((s3, options) => s3.deleteObject(name, options), milliseconds);
  }
}

/** S3 takes no smaller part other than the last. With 10,000 parts, the maximum, an object can have 48 GiB. */
const PART_BYTES = 5 * 1024 ** 2;

/** The uploading caller waits this long for the removal before the error is reported. */
const ABORT_MILLISECONDS = 5_000;

/** Gathers a stream's bytes into parts of `PART_BYTES`; the last may be smaller. */
async function* inParts(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let gathered: Uint8Array[] = [];
  let length = 0;
  for await (let bytes of source) {
    while (length + bytes.length >= PART_BYTES) {
      const head = bytes.subarray(0, PART_BYTES - length);
      bytes = bytes.subarray(head.length);
      yield Buffer.concat([...gathered, head], PART_BYTES);
      gathered = [];
      length = 0;
    }
    if (bytes.length > 0) gathered.push(bytes);
    length += bytes.length;
  }
  if (length > 0) yield Buffer.concat(gathered, length);
}

interface Target {
  readonly Bucket: string;
  readonly Key: string;
}

/** An object that is being uploaded. Nothing of it is visible before it is complete. */
interface Upload {
  /** Sends a part once the one before it has arrived. Returns while the part is under way. */
  add(part: Buffer): Promise<void>;
  complete(): Promise<void>;
  /** Removes the parts that have arrived. */
  abort(): Promise<void>;
}

/** Begins a multipart upload. One part is under way while the next is gathered. */
async function beginUpload(call: CallS3, target: Target): Promise<Upload> {
  const { UploadId } = await call((s3, options) => s3.createMultipartUpload(target, options));
  if (UploadId === undefined) throw new UnavailableError(COMPONENT);
  const sent: { ETag: string | undefined; PartNumber: number }[] = [];
  let onItsWay: Promise<void> = Promise.resolve();

  const send = async (Body: Buffer): Promise<void> => {
    const PartNumber = sent.length + 1;
    const { ETag } = await call((s3, options) =>
      s3.uploadPart({ ...target, UploadId, PartNumber, Body }, options),
    );
    sent.push({ ETag, PartNumber });
  };
  return {
    add: async (part) => {
      await onItsWay;
      onItsWay = send(part);
      // The next part, or the end, finds out whether it failed.
      onItsWay.catch(() => undefined);
    },
    complete: async () => {
      await onItsWay;
      await call((s3, options) =>
        s3.completeMultipartUpload({ ...target, UploadId, MultipartUpload: { Parts: sent } }, options),
      );
    },
    abort: async () => {
      // A part that arrives after the abort would stay.
      await Promise.allSettled([onItsWay]);
      await call(
        (s3, options) => s3.abortMultipartUpload({ ...target, UploadId }, options),
        ABORT_MILLISECONDS,
      );
    },
  };
}

const COMPONENT = 'object storage';

interface S3Connection {
  /** Address of the server; null for Amazon's in the region. */
  readonly endpoint: string | null;
  readonly region: string;
  /** True if the bucket's name goes into the path instead of the host. */
  readonly pathStyle: boolean;
  /** Null for the credentials that the environment, the files or the machine's role of AWS provide. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
  /** Time limit for an answer, including the client's retries. */
  readonly timeoutMilliseconds: number;
}

/** The number of attempts for a request; the client's own number could come from the environment. */
const MAX_ATTEMPTS = 3;
const CONNECTING_MILLISECONDS = 3_000;
/** Each download holds a socket. With the client's own limit of 50, uploads would wait for slow readers. */
const MAX_SOCKETS = 512;

/**
 * Sends a request to S3, with the client's own retries.
 * @throws UnavailableError whose cause is the error of S3, the connection or the time limit
 */
type CallS3 = <Answer>(
  ask: (s3: S3, options: { readonly abortSignal: AbortSignal }) => Promise<Answer>,
  milliseconds?: number,
) => Promise<Answer>;

function createCallS3(connection: S3Connection): CallS3 {
  const { endpoint, region, pathStyle, credentials, timeoutMilliseconds } = connection;
  const agent = { maxSockets: MAX_SOCKETS };
  const s3 = new S3({
    region,
    forcePathStyle: pathStyle,
    maxAttempts: MAX_ATTEMPTS,
    ...(endpoint === null ? {} : { endpoint }),
    ...(credentials === null ? {} : { credentials }),
    // Other servers than Amazon's need not know the default checksums, and the signature covers the body.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // We measure silence ourselves, since the handler's clock also runs while a slow reader holds a body back.
    requestHandler: {
      connectionTimeout: CONNECTING_MILLISECONDS,
      socketTimeout: 0,
      httpAgent: agent,
      httpsAgent: agent,
    },
  });
  return async (ask, milliseconds = timeoutMilliseconds) => {
    const deadline = createDeadline(milliseconds);
    try {
      return await ask(s3, { abortSignal: deadline.signal });
    } catch (cause) {
      throw new UnavailableError(COMPONENT, { cause });
    } finally {
      // The body has its own deadline while it is read.
      deadline.clear();
    }
  };
}
