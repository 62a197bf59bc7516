/** The object of S3's refusal: the bucket, the credentials, the region of the signature, or the server at the endpoint. */
export interface Refusal {
  readonly about: 'bucket' | 'credentials' | 'region' | 'endpoint';
  /** S3's error code, such as `NoSuchBucket`. */
  readonly code: string;
}

/**
 * Codes from https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html,
 * and the client's own for missing credentials.
 */
const subjects: Readonly<Record<string, Refusal['about']>> = {
  NoSuchBucket: 'bucket',
  InvalidBucketName: 'bucket',
  InvalidAccessKeyId: 'credentials',
  SignatureDoesNotMatch: 'credentials',
  AccessDenied: 'credentials',
  InvalidToken: 'credentials',
  ExpiredToken: 'credentials',
  CredentialsProviderError: 'credentials',
  PermanentRedirect: 'region',
  AuthorizationHeaderMalformed: 'region',
  IllegalLocationConstraintException: 'region',
};

/** Statuses of servers that ask for another attempt later. */
const passing = [408, 409, 425, 429];

/** The HTTP status of an error of the client; null when there was no answer. */
export function statusOf(error: unknown): number | null {
  if (!(error instanceof Error) || !('$metadata' in error)) return null;
  const { $metadata: metadata } = error;
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return null;
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : null;
}

/** Returns the refusal of S3; null for errors that may pass: no answer, a server in trouble, or throttling. */
export function refusalOf(error: unknown): Refusal | null {
  if (!(error instanceof Error)) return null;
  const code = error.name;
  const about = subjects[code];
  if (about) return { about, code };
  const status = statusOf(error);
  if (status === null || status < 300 || status >= 500 || passing.includes(status)) return null;
  return { about: 'endpoint', code: `${String(status)} ${code}` };
}
