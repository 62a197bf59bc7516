/** What is safe to log of a failed connection: its code or its name, since messages may quote a header, and with it a key. */
export function networkCause(error: unknown): Error | undefined {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(inner instanceof Error)) return undefined;
  return 'code' in inner && typeof inner.code === 'string' ? new Error(inner.code) : new Error(inner.name);
}
