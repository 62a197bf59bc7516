import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemErrorCode } from '../../src/shared/system-error-code.js';

/** Names of the source files that a service keeps in its data folder. */
export async function storedSources(dataDirectory: string): Promise<string[]> {
  for (;;) {
    try {
      const directory = join(dataDirectory, 'objects', 'objects');
      const entries = await readdir(directory, { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('/markers'))
        .map(({ name }) => name);
    } catch (error) {
      // A folder was taken away while it was being read.
      if (systemErrorCode(error) !== 'ENOENT') throw error;
    }
  }
}
