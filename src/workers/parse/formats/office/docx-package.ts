import { unzipSync } from 'fflate';
import { IngestError } from '../../../../shared/errors.js';

/** The maximum number of bytes of the XML parts of a package after decompression. */
const INFLATED_LIMIT = 256 * 1024 * 1024;
const OLE_MAGIC = Buffer.from('d0cf11e0a1b11ae1', 'hex');
const ENCRYPTED_STREAM = Buffer.from('EncryptedPackage', 'utf16le');

/** Reads the XML parts of an office package, by name. Media and embedded files are not decompressed. */
export function readPackage(bytes: Uint8Array): Record<string, Uint8Array> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.subarray(0, 8).equals(OLE_MAGIC)) {
    if (buffer.includes(ENCRYPTED_STREAM))
      throw new IngestError('encrypted', 'The Word file is protected by a password.');
    throw new IngestError('corrupt', 'The file is no Word file of the docx format.');
  }
  let inflated = 0;
  try {
    return unzipSync(bytes, {
      filter: ({ name, originalSize }) => {
        if (!/\.(?:xml|rels)$/i.test(name)) return false;
        inflated += originalSize;
        if (inflated > INFLATED_LIMIT)
          throw new IngestError('too_large', 'The Word file is too large when unpacked.');
        return true;
      },
    });
  } catch (error) {
    if (error instanceof IngestError) throw error;
    throw new IngestError('corrupt', 'The Word file is damaged.', { cause: error });
  }
}
