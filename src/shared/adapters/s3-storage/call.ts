import { S3 } from '@aws-sdk/client-s3';
import { createDeadline } from '../../deadline.js';
import { UnavailableError } from '../../errors.js';

export const component = 'object storage';

export interface S3Connection {
  /** Address of the server; null for Amazon's of the region. */
  readonly endpoint: string | null;
  readonly region: string;
  /** Whether the bucket is part of the path instead of the host's name. */
  readonly pathStyle: boolean;
  /** null: what the environment, the files or the machine's role of AWS provide. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
  /** Longest time for an answer, repeated attempts included. */
  readonly timeoutMilliseconds: number;
}

const CONNECTING_MILLISECONDS = 3_000;
/** Each download holds one; the client's own bound of 50 would make uploads wait for slow readers. */
const MAX_SOCKETS = 512;

/**
 * Asks S3 once, repeated attempts of the client included.
 * @throws UnavailableError with what S3, the connection or the clock said as its cause
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
    ...(endpoint === null ? {} : { endpoint }),
    ...(credentials === null ? {} : { credentials }),
    // Servers other than Amazon's need not know the checksums that are the default; the signature covers the body.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Silence is timed by us: the handler's own clock also runs while a slow reader holds a body back.
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
      // A body that is still to be read has a deadline of its own.
      deadline.clear();
    }
  };
}
