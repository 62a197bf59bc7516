/** What S3 refuses: the bucket, who we are, the region we sign for, or whatever is at the endpoint. */
export interface Refusal {
  readonly about: 'bucket' | 'credentials' | 'region' | 'endpoint';
  /** S3's own word for it, e.g. `NoSuchBucket`. */
  readonly code: string;
}

/** Codes of https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html, and of the client for want of credentials. */
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

/** Answers of a server that asks to come again. */
const passing = [408, 409, 425, 429];

/** HTTP status of what the client threw; null when there was no answer. */
export function statusOf(error: unknown): number | null {
  if (!(error instanceof Error) || !('$metadata' in error)) return null;
  const { $metadata: metadata } = error;
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return null;
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : null;
}

/** null for what may pass: no answer, an answer of a server in trouble, or one that is throttled. */
export function refusalOf(error: unknown): Refusal | null {
  if (!(error instanceof Error)) return null;
  const code = error.name;
  const about = subjects[code];
  if (about) return { about, code };
  const status = statusOf(error) ?? 0;
  if (status < 300 || status >= 500 || passing.includes(status)) return null;
  return { about: 'endpoint', code: `${String(status)} ${code}` };
}
