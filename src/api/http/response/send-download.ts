import type { Response } from 'express';
import { parameterValue } from '../parameter-value.js';
import type { ApiReply } from './reply.js';
import { writeWithBackpressure } from './write-with-backpressure.js';

type Download = Extract<ApiReply, { type: 'download' }>;

/** Sends a file for the client to save, or to show. */
export async function sendDownload(
  response: Response,
  reply: Download,
  { isHead }: { isHead: boolean },
): Promise<void> {
  const iterator = reply.bytes[Symbol.asyncIterator]();
  try {
    // The first bytes are read before the headers leave, so that a file that cannot be read is answered with an error.
    let item = isHead ? null : await iterator.next();
    response.status(200).set({
      'Content-Length': String(reply.sizeBytes),
      'Content-Disposition': disposition(reply),
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': "default-src 'none'; sandbox",
    });
    // Express would add a charset, which is not known here.
    response.setHeader('Content-Type', reply.contentType);
    let left = isHead ? 0 : reply.sizeBytes;
    for (; item !== null && item.done !== true; item = await iterator.next()) {
      left -= item.value.length;
      if (left >= 0) await writeWithBackpressure(response, item.value);
    }
    if (left !== 0)
      throw new Error(`a download of ${String(reply.sizeBytes)} bytes was off by ${String(left)}`);
    response.end();
  } finally {
    await iterator.return?.();
  }
}

/** `Content-Disposition` for any file name (RFC 6266, RFC 8187): an ASCII form for old clients, then the full name. */
function disposition({ filename, isInline = false }: Download): string {
  const name = filename.replace(/^.*[/\\]/s, '').replace(/\p{Cc}/gu, '') || 'download';
  const plain = name.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%]/g, '_');
  return `${isInline ? 'inline' : 'attachment'}; filename="${plain}"; filename*=UTF-8''${parameterValue(name)}`;
}
