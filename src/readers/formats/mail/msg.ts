import msgreader, { type FieldsData } from '@kenjiuno/msgreader';
import type { Block } from '../../blocks/block.js';
import { oneLine } from '../../blocks/one-line.js';
import { decodeText } from '../../encoding/decode-text.js';
import { encodingOfCodePage } from '../../encoding/labels.js';
import { SEVEN_BIT } from '../../encoding/seven-bit.js';
import type { ReadContext } from '../../parser.js';
import { ReadError } from '../../read-error.js';
import type { CarriedFile } from '../../receipt/attachment-keeper.js';
import { rtfBody } from './body/rtf-body.js';
import { checkCompoundFile } from './check-compound-file.js';
import { messageBlocks } from './message-blocks.js';
import type { MailBody, MailMessage } from './message.js';
import { readMime } from './mime.js';
import { noteMessage } from './note-message.js';
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

const NAME_IDS = Buffer.from('__nameid_version1.0', 'utf16le');
const MICROSOFT_LATIN = 1252;

type Content = (attachment: FieldsData) => Uint8Array;

/** Reads a message of Outlook. @throws ReadError when it is damaged or none */
function readOutlookMessage(bytes: Uint8Array): MailMessage {
  const buffer = Buffer.from(bytes);
  for (const { offset } of checkCompoundFile(buffer))
    // Names of custom properties are not needed, and looking each one up can take very long.
    if (buffer.subarray(offset, offset + NAME_IDS.length).equals(NAME_IDS)) buffer[offset] = 0x78;
  return unlessDamaged(() => {
    const { fields, content } = readFields(buffer);
    return toMessage(fields, content);
  });
}

/** The library checks neither places nor types: a property may hold anything. */
function unlessDamaged(read: () => MailMessage): MailMessage {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof ReadError) throw cause;
    throw new ReadError('corrupt', 'The Outlook message is damaged.', { cause });
  }
}

function readFields(buffer: Buffer): { fields: FieldsData; content: Content } {
  const bytes = buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.byteLength);
  const open = (ansiEncoding: string | undefined) => {
    // @NOTE the package is CommonJS, whose default export is a property of its exports.
    const reader = new msgreader.default(bytes as ArrayBuffer);
    if (ansiEncoding !== undefined) reader.parserConfig = { ansiEncoding };
    const fields = reader.getFileData();
    if (fields.dataType !== 'msg' || fields.messageClass === undefined)
      throw new ReadError('corrupt', 'The file is no Outlook message.');
    const content: Content = (attachment) => new Uint8Array(reader.getAttachment(attachment).content);
    return { fields, content };
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

function toMessage(fields: FieldsData, content: Content): MailMessage {
  const { attachments, nested, sealed } = sortAttachments(fields, content);
  const peopleOf = (kind: 'to' | 'cc') =>
    (fields.recipients ?? []).filter(({ recipType }) => recipType === kind);
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

function bodyOf(fields: FieldsData): MailBody {
  const { body = '' } = fields;
  if (body.trim() === '') return richBodyOf(fields);
  const plain: MailBody = { kind: 'text', text: body };
  const rich = htmlBesideText(fields);
  return rich ? { kind: 'alternative', plain, rich } : plain;
}

function richBodyOf({ bodyHtml, html, internetCodepage, compressedRtf }: FieldsData): MailBody {
  if (bodyHtml !== undefined && bodyHtml !== '') return { kind: 'html', html: bodyHtml };
  if (html !== undefined && html.length > 0) {
    const declared = `cp${String(internetCodepage ?? MICROSOFT_LATIN)}`;
    return { kind: 'html', html: decodeText(html, { declared }) };
  }
  return compressedRtf === undefined ? { kind: 'none' } : rtfBody(compressedRtf);
}

/** The HTML of a message that has a plain text, too; undefined where it has none, or is damaged. */
function htmlBesideText(fields: FieldsData): MailBody | undefined {
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
function sortAttachments(fields: FieldsData, content: Content) {
  const isSealed = /^IPM\.Note\.(?:Secure|SMIME)(?!\.MultipartSigned)/i.test(fields.messageClass ?? '');
  const attachments: CarriedFile[] = [];
  const nested: MailMessage['nested'][number][] = [];
  let sealed = false;
  for (const attachment of fields.attachments ?? []) {
    const inner = attachment.innerMsgContentFields;
    if (inner) {
      nested.push(() => unlessDamaged(() => toMessage(inner, content)));
      continue;
    }
    if (attachment.attachmentHidden === true || attachment.dataId === undefined) continue;
    const bytes = content(attachment);
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
