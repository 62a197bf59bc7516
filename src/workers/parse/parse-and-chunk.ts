import { readFile } from 'node:fs/promises';
import { IngestError } from '../../shared/errors.js';
import { DEFAULT_READ_OPTIONS } from '../../shared/extraction/read-options.js';
import { chunkText, type Chunk } from '../chunking/chunk.js';
import { cleanText } from './clean-text.js';
import { createReceiptWriter } from './extraction/receipt-writer.js';
import { loadParser } from './formats/parsers.js';
import type { ParseTask } from './protocol.js';

/** Formats in which blank bytes mean an empty document. */
const PLAIN = new Set(['text', 'markdown', 'csv', 'json', 'html']);
/** No token of cl100k_base is longer. */
const MAX_TOKEN_LENGTH = 128;

/**
 * The maximum number of characters of text for each byte of the file. Compressed formats have about four. More would let a
 * small file, such as a table whose headings are repeated in each row, use up the memory.
 */
const MAX_TEXT_PER_BYTE = 8;
const TEXT_ALLOWANCE = 1024 * 1024;

/** Parses a document and cuts it into chunks. @throws IngestError when it can never be parsed */
export async function parseAndChunk({ source, chunk, ...task }: Omit<ParseTask, 'id'>): Promise<Chunk[]> {
  const text =
    'text' in source
      ? cleanText(source.text)
      : await parseFile(source.path, { ...task, limit: textLimit(chunk) });
  const chunks = chunkText(text, chunk);
  if (chunks.length === 0)
    throw 'text' in source ? emptyDocument() : new IngestError('no_text', 'The document holds no text.');
  return chunks;
}

function textLimit({ size, maxChunks }: ParseTask['chunk']): number {
  return maxChunks === undefined ? Infinity : maxChunks * size * MAX_TOKEN_LENGTH;
}

async function parseFile(
  path: string,
  {
    format,
    filename = null,
    options = DEFAULT_READ_OPTIONS,
    avoidsNativeCode,
    limit,
  }: Pick<ParseTask, 'format' | 'filename' | 'options' | 'avoidsNativeCode'> & { limit: number },
): Promise<string> {
  const bytes = await readFile(path);
  if (bytes.length === 0 || (PLAIN.has(format) && isBlank(bytes))) throw emptyDocument();
  const parse = await loadParser(format);
  const parts: string[] = [];
  let length = 0;
  const proportion = MAX_TEXT_PER_BYTE * bytes.length + TEXT_ALLOWANCE;
  const receipt = createReceiptWriter();
  for await (const { text } of parse(bytes, { filename, options, receipt, avoidsNativeCode })) {
    length += text.length;
    if (length > Math.min(limit, proportion))
      throw new IngestError('too_large', 'The document holds too much text.');
    parts.push(text);
  }
  return cleanText(parts.join(''));
}

function emptyDocument(): IngestError {
  return new IngestError('empty_document', 'The document is empty.');
}

/** Tells whether a file holds only blanks, line ends, zeros and byte order marks, in any encoding. */
function isBlank(bytes: Uint8Array): boolean {
  return (
    bytes.every((byte) => byte <= 0x20 || byte >= 0xfe || byte === 0xef || byte === 0xbb || byte === 0xbf) &&
    Buffer.from(bytes)
      .toString('latin1')
      .replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/, '')
      .replace(/[\0\s]/g, '') === ''
  );
}
