import { formatOf, type AttachmentLimits } from '../../readers/index.js';
import type { Content } from '../../shared/document.js';
import { IngestError } from '../../shared/errors.js';
import type { ObjectStorage } from '../../shared/ports.js';
import type { ParsedDocument } from '../parse/parse-and-chunk.js';
import type { ParserPool } from '../parse/pool.js';
import { withSourceCopy } from '../parse/with-source-copy.js';

/** @throws IngestError when the bytes yield no chunks; GaveWayError when it was given up for another caller's */
export type ReadContent = (
  content: Content,
  options: {
    readonly callerId: string;
    readonly signal: AbortSignal;
    readonly onProgress?: (share: number) => void;
    readonly attachments: AttachmentLimits | undefined;
    /** After how many milliseconds it is given up for a file of another caller that waits; never without it. */
    readonly givesWayAfter?: number | undefined;
  },
) => Promise<ParsedDocument>;

/** Passes a content's source to the parser: text directly, files as a temporary copy. */
export function createReadContent({
  storage,
  parser,
}: {
  storage: ObjectStorage;
  parser: ParserPool;
}): ReadContent {
  return async (content, { callerId, signal, onProgress, attachments, givesWayAfter }) => {
    const source = await storage.open(content.storageKey);
    if (content.kind === 'text') {
      const text = await decode(source);
      const { chunking } = content;
      return await parser.parse({ text, format: 'text', chunking, callerId, signal });
    }
    const format = formatOf(content.contentType);
    if (!format) throw new IngestError('corrupt', `No parser for ${content.contentType}`);
    return await withSourceCopy(source, { incoming: parser.incoming, signal }, (path) =>
      parser.parse({
        path,
        format,
        filename: content.filename,
        ocr: content.ocr,
        chunking: content.chunking,
        callerId,
        signal,
        onProgress,
        attachments,
        givesWayAfter,
      }),
    );
  };
}

async function decode(source: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of source) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}
