import { ReadError } from '../../../read-error.js';
import type { OfficeKind } from './office-kind.js';

const MAGIC = Buffer.from('d0cf11e0a1b11ae1', 'hex');
const ENCRYPTED_STREAM = Buffer.from('EncryptedPackage', 'utf16le');

/** @throws ReadError when the bytes are a compound file, which is an encrypted package or a file of Office until 2003 */
export function refuseCompound(bytes: Uint8Array, kind: OfficeKind, filename: string | null): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!buffer.subarray(0, MAGIC.length).equals(MAGIC)) return;
  if (buffer.includes(ENCRYPTED_STREAM))
    throw new ReadError('encrypted', `The ${nameOf(kind, filename)} file is protected by a password.`);
  const [format = ''] = kind.extensions;
  throw new ReadError(
    'corrupt',
    `The file is no ${kind.application} file of the ${format} format. Save it as ${format}.`,
  );
}

/**
 * Returns the name of an application for messages. The content of an encrypted file cannot be seen, so that a file whose
 * name does not tell is detected as one of Word.
 */
function nameOf({ application, extensions }: OfficeKind, filename: string | null): string {
  const extension = /\.([A-Za-z0-9]+)$/.exec(filename ?? '')?.[1]?.toLowerCase();
  const isNamed = extension !== undefined && extensions.includes(extension);
  return isNamed || filename === null || application !== 'Word' ? application : 'Office';
}
