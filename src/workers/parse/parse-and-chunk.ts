import { readFile } from 'node:fs/promises';
import { at } from '../../shared/at.js';
import {
  createAttachmentKeeper,
  createReceiptWriter,
  DEFAULT_READ_OPTIONS,
  read,
  ReadError,
  type Block,
  type Findings,
  type KeepAttachment,
  type KeptAttachment,
  type Receipt,
  type ReceiptWriter,
} from '../../readers/index.js';
import type { ChunkText } from '../../shared/chunks/fields.js';
import { IngestError } from '../../shared/errors.js';
import { chunkText } from '../chunking/chunk.js';
import { chunkLikeLangChain } from '../chunking/langchain.js';
import { knownLocation, mostText, createBlockCollector, locateChunks, type Extracted } from './extraction.js';
import type { ChunkingTask, ParseTask } from './protocol.js';

/** The result of parsing and chunking a document. */
export interface ParsedDocument {
  readonly chunks: readonly ChunkText[];
  readonly receipt: Receipt;
  /** Files within it of which documents are to be made. */
  readonly attachments: readonly KeptAttachment[];
}

/**
 * Parses a document and cuts it into chunks.
 *
 * @param onProgress is told which share of the document's parts is read, from 0 to 1
 * @throws IngestError when it can never be parsed
 */
export async function parseAndChunk(
  { attachments, ...task }: Omit<ParseTask, 'id'>,
  onProgress?: (share: number) => void,
): Promise<ParsedDocument> {
  const keeper = createAttachmentKeeper(attachments);
  const receipt = createReceiptWriter({ name: task.format, version: '1' }, onProgress);
  try {
    return { ...(await chunksAndReceipt(task, receipt, keeper.keep)), attachments: keeper.kept };
  } catch (error) {
    await keeper.discard();
    throw error;
  }
}

async function chunksAndReceipt(
  { source, chunk, ...task }: Omit<ParseTask, 'id' | 'attachments'>,
  receipt: ReturnType<typeof createReceiptWriter>,
  keepAttachment: KeepAttachment,
): Promise<Omit<ParsedDocument, 'attachments'>> {
  const extracted =
    'text' in source
      ? ofText(source.text)
      : await readFileBlocks(source.path, { ...task, chunk, keepAttachment }, receipt);
  const chunks = await chunkExtracted(extracted, chunk);
  if (chunks.length === 0) throw 'text' in source ? emptyDocument() : noText(receipt.findings());
  return { chunks, receipt: writeReceipt(receipt.findings(), chunks) };
}

/** Cuts a text that is no file into chunks. @throws IngestError when it is empty */
export async function chunkPlainText(text: string, chunk: ChunkingTask): Promise<ChunkText[]> {
  const chunks = await chunkExtracted(ofText(text), chunk);
  if (chunks.length === 0) throw emptyDocument();
  return chunks;
}

async function chunkExtracted(
  extracted: Extracted,
  { splitter = 'quire', ...options }: ChunkingTask,
): Promise<ChunkText[]> {
  const { text, layout } = extracted;
  const chunks =
    splitter === 'quire'
      ? chunkText(text, options, layout)
      : await chunkLikeLangChain(text, { splitter, ...options }, layout.parts);
  return Array.from(locateChunks(extracted, chunks), ({ location, section, spots }, i) => {
    const { text, tokenCount, overlap } = at(chunks, i);
    return { text, tokenCount, overlap, location: knownLocation(location), section, spots };
  });
}

function ofText(text: string): Extracted {
  const blocks = createBlockCollector();
  blocks.add({ text, place: { line: 1 } });
  return blocks.end();
}

/** The reason that a document without text has in common with its parts, such as pages without text recognition. */
function noText({ gaps }: Findings): IngestError {
  const reasons = new Set(gaps.map(({ detail }) => detail));
  const [reason] = reasons;
  return new IngestError(
    'no_text',
    reasons.size === 1 && reason !== undefined
      ? `The document holds no text: ${reason}`
      : 'The document holds no text.',
  );
}

function writeReceipt(findings: Findings, chunks: readonly ChunkText[]): Receipt {
  let characters = 0;
  let tokens = 0;
  for (const { text, overlap, tokenCount } of chunks) {
    characters += text.length - overlap;
    tokens += tokenCount;
  }
  return { ...findings, characters, tokens };
}

interface FileTask extends Pick<ParseTask, 'format' | 'filename' | 'options' | 'avoidsNativeCode' | 'chunk'> {
  readonly keepAttachment: KeepAttachment;
}

async function readFileBlocks(path: string, task: FileTask, receipt: ReceiptWriter): Promise<Extracted> {
  const { format, filename = null, options = DEFAULT_READ_OPTIONS, avoidsNativeCode, keepAttachment } = task;
  const bytes = await readFile(path);
  const context = { filename, options, receipt, avoidsNativeCode, keepAttachment };
  const blocks = createBlockCollector();
  try {
    for await (const block of bounded(read(bytes, format, context), mostText(task, bytes.length), task))
      blocks.add(block);
  } catch (thrown) {
    const error =
      thrown instanceof ReadError
        ? new IngestError(thrown.code, thrown.message, { cause: thrown.cause })
        : thrown;
    const isLimit = error instanceof IngestError && error.code === 'too_large';
    if (!isLimit || !options.keepsPartial || blocks.isBlank()) throw error;
    receipt.addGap('limit', `Only the beginning was read: ${error.message}`);
  }
  return blocks.end();
}

/** Passes blocks on while they have no more text than a file may hold, and no more parts than there may be chunks, which parts begin. */
async function* bounded(
  blocks: AsyncIterable<Block>,
  most: number,
  { chunk: { maxChunks = Infinity } }: Pick<FileTask, 'chunk'>,
): AsyncIterable<Block> {
  let length = 0;
  let parts = 0;
  for await (const block of blocks) {
    length += block.text.length;
    if (length > most) throw new IngestError('too_large', 'The document holds too much text.');
    if (block.isPart === true && block.text.trim() !== '') parts += 1;
    if (parts > maxChunks)
      throw new IngestError('too_large', `The document has more than ${String(maxChunks)} chunks.`);
    yield block;
  }
}

function emptyDocument(): IngestError {
  return new IngestError('empty_document', 'The document is empty.');
}
