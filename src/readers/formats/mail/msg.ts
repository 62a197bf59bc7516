import msgreader from '@kenjiuno/msgreader';
import { deEncapsulateSync } from 'rtf-stream-parser';
import type { Block } from '../../blocks/block.js';
import { firstGroup } from '../../blocks/matches.js';
import { oneLine } from '../../blocks/one-line.js';
import { decodeAs } from '../../encoding/decode-as.js';
import { decodeText } from '../../encoding/decode-text.js';
import { encodingOfCodePage, encodingOf } from '../../encoding/labels.js';
import { SEVEN_BIT } from '../../encoding/seven-bit.js';
import type { ReadContext } from '../../parser.js';
import { ReadError } from '../../read-error.js';
import type { CarriedFile } from '../../receipt/attachment-keeper.js';
import { rtfTokens } from '../rtf/tokens.js';
import { checkCompoundFile, type CompoundEntry } from './check-compound-file.js';
import { messageBlocks } from './message-blocks.js';
import type { MailBody, MailMessage } from './message.js';
import { readMime } from './mime.js';
import { noteMessage } from './note-message.js';
import { outlookFieldsSchema, type OutlookFields } from './outlook-fields.js';
import { signedContent } from './signed-content.js';

/** Reads a message that Outlook has saved ([MS-OXMSG]). */
export async function* parseMsg(bytes: Uint8Array, context: ReadContext): AsyncIterable<Block> {
  context.receipt.setParser('msgreader', '1.28.0');
  const message = readOutlookMessage(bytes);
  if (message.body.kind === 'encrypted')
    throw new ReadError('encrypted', 'The Outlook message is encrypted.');
  noteMessage(message, context);
  yield* messageBlocks(message, context);
}

const MICROSOFT_LATIN = 1252;

/** The bytes of a stream by its number. */
type Content = (dataId: number) => Uint8Array;

/** Reads a message of Outlook. @throws ReadError when it is damaged or none */
function readOutlookMessage(bytes: Uint8Array): MailMessage {
  const buffer = Buffer.from(bytes);
  for (const entry of checkCompoundFile(buffer)) mendEntry(buffer, entry);
  return unlessDamaged(() => {
    const { fields, content } = readFields(buffer);
    return toMessage(fields, content);
  });
}

const NAME_IDS = '__nameid_version1.0';
/** The fewest bytes of a property by its type. Beyond the end of shorter ones the library throws. */
const MIN_BYTES: ReadonlyMap<string, number> = new Map([
  ['0003', 4],
  ['000B', 2],
  ['0040', 8],
]);

/** Changes an entry of a compound file so that the library reads the others. */
function mendEntry(buffer: Buffer, { offset, sizeOffset, size }: CompoundEntry): void {
  const name = buffer.toString('utf16le', offset, offset + 40);
  const type = firstGroup(/^__substg1\.0_[\dA-F]{4}([\dA-F]{4})$/, name);
  // Names of custom properties are not needed, and looking each one up can take very long.
  if (name.startsWith(NAME_IDS) || size < (MIN_BYTES.get(type) ?? 0)) buffer[offset] = 0x78;
  // A letter has two bytes.
  else if (type === '001F' && size % 2 === 1) buffer.writeInt32LE(size - 1, sizeOffset);
}

/** The library does not check places. */
function unlessDamaged(read: () => MailMessage): MailMessage {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof ReadError) throw cause;
    throw new ReadError('corrupt', 'The Outlook message is damaged.', { cause });
  }
}

function readFields(buffer: Buffer): { fields: OutlookFields; content: Content } {
  const { buffer: bytes } = new Uint8Array(buffer);
  const open = (ansiEncoding: string | undefined) => {
    // @NOTE the package is CommonJS, whose default export is a property of its exports.
    const reader = new msgreader.default(bytes);
    if (ansiEncoding !== undefined) reader.parserConfig = { ansiEncoding };
    const properties = reader.getFileData();
    if (properties.dataType !== 'msg' || properties.messageClass === undefined)
      throw new ReadError('corrupt', 'The file is no Outlook message.');
    const content: Content = (dataId) =>
      new Uint8Array(reader.getAttachment({ dataType: 'attachment', dataId }).content);
    return { fields: outlookFieldsSchema.parse(properties), content };
  };
  const first = open(undefined);
  const codepage = first.fields.messageCodepage ?? MICROSOFT_LATIN;
  const encoding = encodingOfCodePage(codepage);
  // Strings of one byte a letter are in the code page of the message, which is one of its properties.
  const read = encoding === undefined || SEVEN_BIT.has(encoding) ? first : open(encoding);
  decodeEscapes(read.fields, encoding);
  return read;
}

/** Decodes strings with escape sequences or shifts (ISO 2022) in place, which the library leaves as they are. */
function decodeEscapes(value: unknown, declared: string | undefined): void {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
  for (const [key, inner] of Object.entries(value))
    if (typeof inner !== 'string') decodeEscapes(inner, declared);
    else if (/[\u001b\u000e]/.test(inner) && !/[^\0-\x7f]/.test(inner))
      Reflect.set(value, key, decodeText(Buffer.from(inner), { declared }));
}

function toMessage(fields: OutlookFields, content: Content): MailMessage {
  const { attachments, nested, sealed } = sortAttachments(fields, content);
  const peopleOf = (kind: 'to' | 'cc') => fields.recipients.filter(({ recipType }) => recipType === kind);
  const people = (kind: 'to' | 'cc'): string =>
    peopleOf(kind)
      .map(({ name, smtpAddress, email }) => person(name, smtpAddress ?? email))
      .join('; ');
  const addresses = (kind: 'to' | 'cc'): string[] =>
    peopleOf(kind).map(({ name, smtpAddress, email }) => bareAddress(name, smtpAddress ?? email));
  const sender = fields.senderSmtpAddress ?? fields.senderEmail;
  return {
    subject: oneLine(fields.subject ?? fields.normalizedSubject ?? ''),
    from: person(fields.senderName, sender),
    to: people('to'),
    cc: people('cc'),
    date: fields.clientSubmitTime ?? fields.messageDeliveryTime ?? '',
    addresses: {
      from: [bareAddress(fields.senderName, sender)],
      to: addresses('to'),
      cc: addresses('cc'),
    },
    messageId: fields.messageId ?? '',
    language: '',
    body: sealed ? { kind: 'encrypted' } : bodyOf(fields),
    attachments,
    nested,
  };
}

/** Addresses of Exchange are no addresses for people. */
function person(name = '', address = ''): string {
  if (!address.includes('@') || address === name) return oneLine(name);
  return oneLine(name === '' ? address : `${name} <${address}>`);
}

const bareAddress = (name = '', address = ''): string => (address.includes('@') ? address : name);

function bodyOf(fields: OutlookFields): MailBody {
  const { body = '' } = fields;
  if (body.trim() === '') return richBodyOf(fields);
  const plain: MailBody = { kind: 'text', text: body };
  const rich = htmlBesideText(fields);
  return rich ? { kind: 'alternative', plain, rich } : plain;
}

function richBodyOf({ bodyHtml, html, internetCodepage, compressedRtf }: OutlookFields): MailBody {
  if (bodyHtml !== undefined && bodyHtml !== '') return { kind: 'html', html: bodyHtml };
  if (html !== undefined && html.length > 0) {
    const declared = `cp${String(internetCodepage ?? MICROSOFT_LATIN)}`;
    return { kind: 'html', html: decodeText(html, { declared }) };
  }
  return compressedRtf === undefined ? { kind: 'none' } : rtfBody(compressedRtf);
}

/** The HTML of a message that has a plain text, too; undefined where it has none, or is damaged. */
function htmlBesideText(fields: OutlookFields): MailBody | undefined {
  try {
    const rich = richBodyOf(fields);
    return rich.kind === 'html' ? rich : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Divides attachments into files and messages, and finds the form that a signature or encryption has given the whole
 * message.
 */
function sortAttachments(fields: OutlookFields, content: Content) {
  const isSealed = /^IPM\.Note\.(?:Secure|SMIME)(?!\.MultipartSigned)/i.test(fields.messageClass ?? '');
  const attachments: CarriedFile[] = [];
  const nested: MailMessage['nested'][number][] = [];
  let sealed = false;
  for (const attachment of fields.attachments) {
    const inner = attachment.innerMsgContentFields;
    if (inner !== undefined) {
      nested.push(() => unlessDamaged(() => toMessage(outlookFieldsSchema.parse(inner), content)));
      continue;
    }
    if (attachment.attachmentHidden || attachment.dataId === undefined) continue;
    const bytes = content(attachment.dataId);
    if (isSealed || attachment.attachMimeTag === 'multipart/signed') {
      const signed = isSealed ? signedContent(bytes) : bytes;
      if (signed) nested.push(() => readMime(signed, { isPart: true }));
      else sealed = true;
      continue;
    }
    attachments.push({
      filename: attachment.fileName ?? attachment.fileNameShort ?? attachment.name ?? null,
      contentType: attachment.attachMimeTag ?? 'application/octet-stream',
      bytes,
    });
  }
  return { attachments, nested, sealed };
}

/** In deeper groups the library looks each property up through all groups around it. Such deep groups are read as RTF. */
const MAX_GROUP_DEPTH = 100;

/** The RTF of a message of Outlook, or the text or HTML that Outlook has wrapped into it ([MS-OXRTFEX]). */
function rtfBody(compressed: Uint8Array): MailBody {
  const rtf = decompressRtf(compressed);
  if (!rtf.toString('latin1', 0, 64).trimStart().startsWith('{\\rtf')) return { kind: 'none' };
  if (!/\\from(?:text|html)/.test(rtf.toString('latin1', 0, 4096))) return { kind: 'rtf', rtf };
  const unwrapped = isDeep(rtf) ? undefined : unwrap(rtf);
  if (!unwrapped) return { kind: 'rtf', rtf };
  const { mode, text } = unwrapped;
  const written = text.toString();
  return mode === 'html' ? { kind: 'html', html: written } : { kind: 'text', text: written };
}

/** Undefined where it is not wrapped as it says. */
function unwrap(rtf: Buffer): ReturnType<typeof deEncapsulateSync> | undefined {
  try {
    const decode = (bytes: Buffer, page: string): string =>
      decodeAs(bytes, encodingOf(page) ?? 'windows-1252');
    return deEncapsulateSync(rtf, { decode, mode: 'either', warn: () => undefined });
  } catch {
    return undefined;
  }
}

function isDeep(rtf: Buffer): boolean {
  let depth = 0;
  for (const { kind } of rtfTokens(rtf)) {
    if (kind === 'open') depth += 1;
    else if (kind === 'close') depth -= 1;
    if (depth > MAX_GROUP_DEPTH) return true;
  }
  return false;
}

const HEADER_BYTES = 16;
const COMPRESSED = 0x75465a4c;
const UNCOMPRESSED = 0x414c454d;
const WINDOW = 4096;
/** The first content of the window. */
const DICTIONARY = Buffer.from(
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript ' +
    '\\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n' +
    '\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx',
  'latin1',
);

/** Decompresses the RTF of a message of Outlook ([MS-OXRTFCP]). The size in its header is a limit. */
function decompressRtf(bytes: Uint8Array): Buffer {
  const input = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (input.length < HEADER_BYTES) throw damaged();
  const size = input.readUInt32LE(4);
  const kind = input.readUInt32LE(8);
  if (kind === UNCOMPRESSED) return input.subarray(HEADER_BYTES, HEADER_BYTES + size);
  // One byte in seventeen tells the kinds of the others, and two bytes stand for at most seventeen.
  if (kind !== COMPRESSED || size > input.length * 9) throw damaged();
  return inflate(input, size);
}

function inflate(input: Buffer, size: number): Buffer {
  const output = Buffer.alloc(DICTIONARY.length + size);
  DICTIONARY.copy(output);
  let from = HEADER_BYTES;
  let to = DICTIONARY.length;
  while (from < input.length && to < output.length) {
    const control = input.readUInt8(from);
    from += 1;
    for (let bit = 0; bit < 8 && from < input.length && to < output.length; bit += 1) {
      if ((control & (1 << bit)) === 0) {
        output[to] = input.readUInt8(from);
        from += 1;
        to += 1;
        continue;
      }
      if (from + 1 >= input.length) return output.subarray(DICTIONARY.length, to);
      const reference = input.readUInt16BE(from);
      from += 2;
      const source = sourceOf(reference >> 4, to);
      if (source === to) return output.subarray(DICTIONARY.length, to);
      const end = Math.min(to + (reference & 15) + 2, output.length);
      for (let at = source; to < end; at += 1, to += 1) output[to] = output.readUInt8(at);
    }
  }
  return output.subarray(DICTIONARY.length, to);
}

/** Returns the place in the output where a place of the window was written last. */
function sourceOf(place: number, to: number): number {
  const source = to - (to % WINDOW) + place;
  return source > to ? Math.max(0, source - WINDOW) : source;
}

const damaged = () => new ReadError('corrupt', 'The RTF text of the Outlook message is damaged.');
