import { detectFileType } from '../../../detection/detect.js';
import type { FileFormat } from '../../../detection/formats.js';
import { ReadError } from '../../../read-error.js';
import { receiptOfPart } from '../../../receipt/receipt-writer.js';
import type { Block } from '../../../blocks/block.js';
import { parseHtml } from '../../html/html.js';
import { bodyBlocks } from '../../mail/body-blocks.js';
import type { MailBody } from '../../mail/message.js';
import { readMime } from '../../mail/mime.js';
import type { ReadContext } from '../../../parser.js';
import { parseRtf } from '../../rtf/rtf.js';
import { parseText } from '../../text/text.js';
import type { OfficePackage } from '../package/office-package.js';

/** Most documents that a file imports, and most bytes that all of them have. */
const MAX_IMPORTS = 50;
const MAX_BYTES = 16 * 1024 * 1024;

/** Reads the document that a file imports at a place (`altChunk`); undefined when it is not read. */
export type ReadImport = (relation: string) => Iterable<Block> | undefined;

type SyncParser = (bytes: Uint8Array, context: ReadContext) => Iterable<Block>;

/** @param readWord reads a Word file whose own imports are not read */
export async function loadImports(
  office: OfficePackage,
  context: ReadContext,
  readWord: SyncParser,
): Promise<ReadImport> {
  const inner: ReadContext = { ...context, filename: null, receipt: receiptOfPart(context.receipt) };
  const parsers: Partial<Record<FileFormat, SyncParser>> = {
    html: parseHtml,
    text: parseText,
    markdown: parseText,
    rtf: parseRtf,
    docx: readWord,
  };
  const loaded = new Map<string, () => Iterable<Block>>();
  let left = MAX_BYTES;
  for (const { id, target } of importsOf(office)) {
    const bytes = office.bytes(target, left);
    if (!bytes) continue;
    left -= bytes.length;
    const format = detectFileType(bytes, target, null)?.format;
    const parse = format && parsers[format];
    const body = format === 'eml' || /\.mht(?:ml)?$/.test(target) ? await webArchive(bytes) : undefined;
    if (body) loaded.set(id, () => bodyBlocks(body, inner));
    else if (parse) loaded.set(id, () => survived(parse, bytes, inner));
  }
  return (relation) => {
    const read = loaded.get(relation);
    loaded.delete(relation);
    return read?.();
  };
}

const importsOf = (office: OfficePackage) =>
  office
    .relations(office.mainPart)
    .filter(({ type }) => type === 'aFChunk')
    .slice(0, MAX_IMPORTS);

/** A page that was saved with its pictures is written as a message. */
async function webArchive(bytes: Uint8Array): Promise<MailBody | undefined> {
  try {
    const { body } = await readMime(bytes, { isPart: true });
    return body;
  } catch (error) {
    if (error instanceof ReadError) return undefined;
    throw error;
  }
}

/** An import that is damaged or encrypted does not keep the document from being read. */
function* survived(parse: SyncParser, bytes: Uint8Array, context: ReadContext): Iterable<Block> {
  try {
    for (const { text, heading, row } of parse(bytes, context)) yield { text, heading, row };
  } catch (error) {
    if (!(error instanceof ReadError) || error.code === 'too_large') throw error;
    context.receipt.addGap('unreadable', `An imported document: ${error.message}`);
  }
}
