import { systemErrorCode } from '../system-error-code.js';

/** For `catch` after the call of a file: a file that is not there stands for this value. Other errors stay errors. */
export const onMissing =
  <Value>(value: Value) =>
  (error: unknown): Value => {
    if (systemErrorCode(error) === 'ENOENT') return value;
    throw error;
  };
