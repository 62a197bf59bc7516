import { ReadError } from '../../read-error.js';
import type { Zip } from '../zip/zip.js';

/** The bytes of a member; undefined when it is missing or damaged, which does not keep others from being read. */
export function readMember(zip: Zip, path: string, most?: number): Uint8Array | undefined {
  try {
    return zip.read(path, most);
  } catch (error) {
    if (error instanceof ReadError && error.code === 'corrupt') return undefined;
    throw error;
  }
}
