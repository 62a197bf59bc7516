import { S3 } from '@aws-sdk/client-s3';
import { createDeadline } from '../../tools/deadline.js';
import { UnavailableError } from '../../errors.js';

export const component = 'object storage';

export interface S3Connection {
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
export type CallS3 = <Answer>(
  ask: (s3: S3, options: { readonly abortSignal: AbortSignal }) => Promise<Answer>,
  milliseconds?: number,
) => Promise<Answer>;

export function createCallS3(connection: S3Connection): CallS3 {
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
      throw new UnavailableError(component, { cause });
    } finally {
      // The body has its own deadline while it is read.
      deadline.clear();
    }
  };
}
