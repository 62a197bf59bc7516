/** Code of a system error such as `ENOENT`; null for other errors. */
export function errorCode(error: unknown): string | null {
  // Not `instanceof Error`: Node's own errors are of another realm when the code runs in a vm, as under jest.
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}
