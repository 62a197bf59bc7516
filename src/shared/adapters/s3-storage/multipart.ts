import { UnavailableError } from '../../errors.js';
import { component, type CallS3 } from './call.js';

/** The least that S3 takes for a part other than the last; 10,000 of them, which is the most, make 48 GiB. */
const PART_BYTES = 5 * 1024 ** 2;

/** The caller who uploads waits for the removal before it hears what went wrong. */
const ABORT_MILLISECONDS = 5_000;

/** Gathers a stream's bytes into parts; all but the last have `PART_BYTES`. */
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

/** An object in the making, of which nothing can be seen before it is complete. */
export interface Upload {
  /** Sends a part once the one before it has arrived; returns while it is on its way. */
  add(part: Buffer): Promise<void>;
  complete(): Promise<void>;
  /** Removes what has arrived. */
  abort(): Promise<void>;
}

/** Begins a multipart upload; one part is on its way while the next is gathered. */
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
      // Whether it failed is asked with the next part, or at the end.
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
