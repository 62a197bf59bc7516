import { systemErrorCode } from '../../system-error-code.js';
import { UnavailableError } from '../../errors.js';

export const COMPONENT = 'object storage';

/**
 * Runs a file operation. A file system that refuses (full, read-only, away, broken) may work later, so the document is not at
 * fault.
 * @throws UnavailableError for errors of the system; other errors are passed on
 */
export async function guarded<Result>(action: () => Promise<Result>): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    throw systemErrorCode(error) === null ? error : new UnavailableError(COMPONENT, { cause: error });
  }
}

export async function unlessMissing<Result>(action: () => Promise<Result>): Promise<Result | null> {
  try {
    return await action();
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT' || systemErrorCode(error) === 'ENOTDIR') return null;
    throw error;
  }
}
