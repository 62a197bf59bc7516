import { UnavailableError } from '../../errors.js';
import { component, type CallS3 } from './call.js';

/** S3 takes no smaller part other than the last. With 10,000 parts, the maximum, an object can have 48 GiB. */
const PART_BYTES = 5 * 1024 ** 2;

/** The uploading caller waits this long for the removal before the error is reported. */
const ABORT_MILLISECONDS = 5_000;

/** Gathers a stream's bytes into parts of `PART_BYTES`; the last may be smaller. */
export async function* inParts(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
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
export interface Upload {
  /** Sends a part once the one before it has arrived. Returns while the part is under way. */
  add(part: Buffer): Promise<void>;
  complete(): Promise<void>;
  /** Removes the parts that have arrived. */
  abort(): Promise<void>;
}

/** Begins a multipart upload. One part is under way while the next is gathered. */
export async function beginUpload(call: CallS3, target: Target): Promise<Upload> {
  const { UploadId } = await call((s3, options) => s3.createMultipartUpload(target, options));
  if (UploadId === undefined) throw new UnavailableError(component);
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
