/** The code of a system error, such as `ENOENT`; null for other errors. */
export function systemErrorCode(error: unknown): string | null {
  // `instanceof Error` would fail for Node's own errors when the code runs in a vm, as under jest.
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}

/** For `catch` after the call of a file: a file that is not there stands for this value. Other errors stay errors. */
export const onMissing =
  <Value>(value: Value) =>
  (error: unknown): Value => {
    if (systemErrorCode(error) === 'ENOENT') return value;
    throw error;
  };
