import type { IncomingMessage } from 'node:http';
import { checkEncoding, mediaTypeOf, readBytes, type BodyOptions } from './body.js';
import { createMultipartParser, fieldText, malformed } from './multipart-parser.js';

/** Reads the fields of a small form, url-encoded or multipart; files are skipped. @throws HttpError 400, 413, 415 */
export async function readForm(
  request: IncomingMessage,
  options: BodyOptions,
): Promise<Record<string, string>> {
  checkEncoding(request);
  const bytes = await readBytes(request, options);
  if (mediaTypeOf(request) === 'application/x-www-form-urlencoded') {
    return Object.fromEntries(new URLSearchParams(bytes.toString('utf8')));
  }
  return readMultipart(bytes, request.headers);
}

function readMultipart(bytes: Buffer, headers: IncomingMessage['headers']): Promise<Record<string, string>> {
  return new Promise((resolve, reject) => {
    const refuse = (cause: unknown) => {
      reject(malformed(cause));
    };
    try {
      const parser = createMultipartParser(headers, { fields: 100, parts: 100 });
      const fields = new Map<string, string>();
      // @NOTE busboy's type does not say that the name is undefined when the part gives none.
      parser.on('field', (name: string | undefined, value, { encoding }) => {
        if (name !== undefined) fields.set(name, fieldText(Buffer.from(value, 'latin1'), encoding));
      });
      parser.on('file', (_name, stream) => {
        stream.on('error', () => undefined).resume();
      });
      parser.on('error', refuse).on('close', () => {
        resolve(Object.fromEntries(fields));
      });
      parser.end(bytes);
    } catch (error) {
      refuse(error);
    }
  });
}
