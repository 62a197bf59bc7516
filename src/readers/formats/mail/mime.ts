import { addressParser, type Address } from 'postal-mime';
import { oneLine } from '../../blocks/one-line.js';
import { ReadError } from '../../read-error.js';
import type { CarriedFile } from '../../receipt/attachment-keeper.js';
import type { ReceiptWriter } from '../../receipt/receipt-writer.js';
import { toReadableMail } from './mail-encoding.js';
import type { MailBody, MailMessage } from './message.js';
import { wordsInUtf8 } from './mime/encoded-words.js';
import { headerOf, parseParts, type Part } from './mime/parse-parts.js';
import { holds, sortParts, type CarriedPart } from './mime/sort-parts.js';
import { signedContent } from './signed-content.js';

const SIGNATURES = new Set([
  'application/pgp-signature',
  'application/pkcs7-signature',
  'application/x-pkcs7-signature',
]);
const SEALED = new Set(['application/pkcs7-mime', 'application/x-pkcs7-mime']);
/** Headers that show a message: every message has at least one of them. */
const TELLING = new Set(
  'from to cc bcc subject date sender received message-id mime-version content-type return-path delivered-to reply-to'.split(
    ' ',
  ),
);

interface MimeOptions {
  /** True if the bytes may lack the headers of a message, as the content of a signature may. */
  readonly isPart?: boolean | undefined;
  /** Notes texts whose encoding is a guess. */
  readonly receipt?: ReceiptWriter | undefined;
}

/** Reads a message in the format of RFC 5322 with MIME. @throws ReadError when it is none, or is out of bounds */
export async function readMime(
  bytes: Uint8Array,
  { isPart = false, receipt }: MimeOptions = {},
): Promise<MailMessage> {
  const readable = toReadableMail(bytes, receipt);
  checkMailSize(readable);
  const root = await parseParts(readable);
  if (!isPart && !root.headers.some(({ key }) => TELLING.has(key)))
    throw new ReadError('corrupt', 'The file is no e-mail message: it has none of its headers.');
  const { body, carried } = sortParts(root, receipt);
  const { isEncrypted, attachments, nested } = sortCarried(carried, {
    isEncrypted: root.type === 'multipart/encrypted' || isPgpMessage(body),
    hasHtml: holds(body, 'html'),
    receipt,
  });
  const [from, to, cc] = [peopleOf(root, 'from', 1), peopleOf(root, 'to'), peopleOf(root, 'cc')];
  return {
    subject: headerOf(root, 'subject'),
    from: from.text,
    to: to.text,
    cc: cc.text,
    date: headerOf(root, 'date'),
    addresses: { from: from.addresses, to: to.addresses, cc: cc.addresses },
    messageId: headerOf(root, 'message-id'),
    language: headerOf(root, 'content-language').split(',')[0]?.trim() ?? '',
    body: isEncrypted ? { kind: 'encrypted' } : body,
    attachments,
    nested,
  };
}

/** Tells whether the first text of a message is encrypted. */
function isPgpMessage(body: MailBody): boolean {
  if (body.kind === 'parts') return body.parts.slice(0, 1).some(isPgpMessage);
  if (body.kind === 'alternative') return isPgpMessage(body.plain);
  return body.kind === 'text' && /^\s*-----BEGIN PGP MESSAGE-----/.test(body.text);
}

interface CarriedBy {
  readonly isEncrypted: boolean;
  /** True if the message has HTML, which may show pictures. */
  readonly hasHtml: boolean;
  readonly receipt: ReceiptWriter | undefined;
}

/** Divides the parts of a message into files, messages and parts that encryption and signatures need. */
function sortCarried(carried: readonly CarriedPart[], { isEncrypted, hasHtml, receipt }: CarriedBy) {
  const attachments: CarriedFile[] = [];
  const nested: (() => Promise<MailMessage>)[] = [];
  let sealed = isEncrypted;
  for (const { filename, contentType, bytes, isShown } of carried) {
    if (SIGNATURES.has(contentType) || (isShown && hasHtml)) continue;
    if (SEALED.has(contentType)) {
      const content = signedContent(bytes);
      if (content) nested.push(() => readMime(content, { isPart: true, receipt }));
      else sealed = true;
    } else if (contentType === 'message/rfc822' || contentType === 'message/global')
      nested.push(() => readMime(bytes, { receipt }));
    else if (!sealed) attachments.push({ filename, contentType, bytes });
  }
  return { attachments, nested, isEncrypted: sealed };
}

/** Each line of a message is an object of its own to the library that reads it. */
const MAX_LINES = 2_000_000;
/** Each piece of Base64 that ends with padding is such an object, too. In other encodings the sign costs nothing. */
const MAX_PADDINGS = 1_000_000;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const EQUALS = 0x3d;

/** @throws ReadError where a message of short lines or pieces would take many times its own size */
function checkMailSize(bytes: Uint8Array): void {
  let lines = 0;
  let paddings = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === LINE_FEED) lines += 1;
    else if (byte === EQUALS && !endsPiece(bytes[at + 1])) paddings += 1;
  }
  if (lines > MAX_LINES) throw new ReadError('too_large', 'The e-mail has more than 2,000,000 lines.');
  if (paddings > MAX_PADDINGS && /base64/i.test(Buffer.from(bytes).toString('latin1')))
    throw new ReadError('too_large', 'The e-mail has more than 1,000,000 pieces of Base64.');
}

/** Tells whether a sign is at the end of a line, which is counted already, or one of several. */
const endsPiece = (next: number | undefined): boolean =>
  next === undefined || next === LINE_FEED || next === CARRIAGE_RETURN || next === EQUALS;

/** The people that a header such as `To` names. */
interface People {
  /** As the header has them: `Ann <ann@example.com>, Bob <bob@example.com>`. */
  readonly text: string;
  /** Bare addresses, or names where there is no address. */
  readonly addresses: readonly string[];
}

/** @param most how many are taken; there is one sender */
function peopleOf({ headers }: Part, name: string, most = Infinity): People {
  const addresses = headers
    .filter(({ key, value }) => key === name && value !== '')
    .flatMap(({ value }) => addressParser(wordsInUtf8(value)))
    .slice(0, most);
  return { text: oneLine(addresses.map(oneAddress).join(', ')), addresses: bareAddresses(addresses) };
}

function oneAddress({ name, address, group }: Address): string {
  if (group) return `${name}: ${group.map(oneAddress).join(', ')}`;
  if (name === '') return address;
  return address === '' || address === name ? name : `${name} <${address}>`;
}

const bareAddresses = (addresses: readonly Address[]): string[] =>
  addresses.flatMap(({ name, address, group }) => (group ? bareAddresses(group) : [address || name]));
