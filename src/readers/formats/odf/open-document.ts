import { ReadError } from '../../read-error.js';
import type { ReceiptWriter } from '../../receipt/receipt-writer.js';
import { scanMarkup } from '../xml/read-markup.js';
import { openZip, type Zip } from '../zip/zip.js';

/** Most bytes of XML that a file may hold after decompression. It is read as a stream. */
const LIMIT_BYTES = 512 * 1024 * 1024;
const WHAT = 'OpenDocument file';

/**
 * Opens the package of an OpenDocument file (ODF 1.3, part 2).
 * @throws ReadError `encrypted` or `corrupt` when it can never be read
 */
export function openDocument(bytes: Uint8Array, receipt: ReceiptWriter): Zip {
  const zip = openZip(bytes, { limitBytes: LIMIT_BYTES, what: WHAT, receipt });
  const encrypted: string[] = [];
  if (zip.has('META-INF/manifest.xml'))
    scanMarkup(zip.pieces('META-INF/manifest.xml'), {
      open: (name) => {
        if (name.endsWith('encryption-data')) encrypted.push(name);
      },
      close: () => undefined,
      text: () => undefined,
    });
  if (encrypted.length > 0) throw new ReadError('encrypted', `The ${WHAT} is protected by a password.`);
  if (!zip.has('content.xml')) throw new ReadError('corrupt', `The ${WHAT} has no content in it.`);
  return zip;
}

/** Notes the title and the language that the file states. */
export function readMeta(zip: Zip, receipt: ReceiptWriter): void {
  if (!zip.has('meta.xml')) return;
  const values = new Map<string, string>();
  let current = '';
  scanMarkup(zip.pieces('meta.xml'), {
    open: (name) => {
      current = name;
    },
    close: () => {
      current = '';
    },
    text: (text) => {
      if (current === 'dc:title' || current === 'dc:language')
        values.set(current, (values.get(current) ?? '') + text);
    },
  });
  receipt.setTitle(values.get('dc:title') ?? '');
  const language = values.get('dc:language') ?? '';
  if (language !== '') receipt.setLanguage(language);
}
