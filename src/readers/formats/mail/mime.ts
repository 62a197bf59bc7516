import { at, textOrEmpty } from '../../../shared/at.js';
import { addressParser, type Address } from 'postal-mime';
import { oneLine } from '../../blocks/one-line.js';
import { decodeText } from '../../encoding/decode-text.js';
import { encodingOf } from '../../encoding/labels.js';
import { ReadError } from '../../read-error.js';
import type { CarriedFile } from '../../receipt/attachment-keeper.js';
import type { ReceiptWriter } from '../../receipt/receipt-writer.js';
import { declaredInHtml } from '../html/html.js';
import { toReadableMail } from './mail-encoding.js';
import type { MailBody, MailMessage } from './message.js';
import { wordsInUtf8 } from './encoded-words.js';
import { headerOf, parseParts, type Part } from './parse-parts.js';
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
    language: at(headerOf(root, 'content-language').split(','), 0).trim(),
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

/** The content of a message, in the order of its parts. */
interface SortedParts {
  readonly body: MailBody;
  /** Everything that is no text of the message itself. */
  readonly carried: readonly CarriedPart[];
}

interface CarriedPart extends CarriedFile {
  /** True for a picture that the HTML of the message refers to. */
  readonly isShown: boolean;
}

const CALENDAR = /^(?:text\/calendar|application\/ics)$/;
/** Reports of mail servers, which people read as text. */
const REPORT = /^(?:message\/(?:delivery-status|disposition-notification)|text\/rfc822-headers)$/;

/** Divides the parts of a message into its text and the parts that it carries. */
function sortParts(root: Part, receipt: ReceiptWriter | undefined): SortedParts {
  const carried: CarriedPart[] = [];
  const calendars = new Set<string>();
  const visit = (part: Part, isRelated: boolean): MailBody => {
    if (part.bytes === null)
      return part.type === 'multipart/alternative'
        ? alternative(part.parts.map((each) => visit(each, isRelated)))
        : together(part.parts.map((each) => visit(each, isRelated || part.type === 'multipart/related')));
    if (CALENDAR.test(part.type)) return calendar(part.bytes);
    if (!part.isAttached && part.type === 'text/html') return { kind: 'html', html: htmlOf(part, receipt) };
    if (!part.isAttached && (part.type === 'text/plain' || REPORT.test(part.type)))
      return { kind: 'text', text: textOf(part, receipt) };
    carried.push({
      filename: part.filename,
      contentType: part.type,
      bytes: part.bytes,
      isShown: isRelated && part.hasId && part.type.startsWith('image/'),
    });
    return { kind: 'none' };
  };
  /** An invitation is often there twice: as a part and as a file. */
  const calendar = (bytes: Uint8Array): MailBody => {
    const text = decodeText(bytes, { declared: 'utf-8' });
    if (calendars.has(text.trim())) return { kind: 'none' };
    calendars.add(text.trim());
    return { kind: 'calendar', text };
  };
  return { body: visit(root, false), carried };
}

/** Returns the plain form and the richest form of a text, and the other parts beside them. */
function alternative(forms: readonly MailBody[]): MailBody {
  const plain = forms.find((form) => isThere(form) && holds(form, 'text') && !holds(form, 'html'));
  const rich = forms.findLast((form) => holds(form, 'html'));
  const others = forms.filter((form) => !holds(form, 'text') && !holds(form, 'html'));
  const text: MailBody =
    plain && rich ? { kind: 'alternative', plain, rich } : (plain ?? rich ?? { kind: 'none' });
  return together([text, ...others]);
}

/** Tells whether a body has a part of a kind. */
function holds(body: MailBody, kind: MailBody['kind']): boolean {
  if (body.kind === 'parts') return body.parts.some((part) => holds(part, kind));
  if (body.kind === 'alternative') return holds(body.plain, kind) || holds(body.rich, kind);
  return body.kind === kind;
}

const isThere = (body: MailBody): boolean =>
  body.kind === 'text' ? body.text.trim() !== '' : body.kind !== 'parts' || body.parts.some(isThere);

function together(bodies: readonly MailBody[]): MailBody {
  const parts = bodies.filter(({ kind }) => kind !== 'none');
  const [only] = parts;
  if (!only) return { kind: 'none' };
  return parts.length === 1 ? only : { kind: 'parts', parts };
}

function textOf({ bytes, parameters }: Part, receipt: ReceiptWriter | undefined): string {
  const text = decodeText(bytes ?? new Uint8Array(), { declared: parameters.get('charset'), receipt });
  if (parameters.get('format')?.toLowerCase() !== 'flowed') return text;
  return joinFlowedLines(text, { deletesBlanks: parameters.get('delsp')?.toLowerCase() === 'yes' });
}

/** Decodes HTML in the charset of its part. Where that is none or ASCII, the charset counts that the HTML declares itself. */
function htmlOf({ bytes, parameters }: Part, receipt: ReceiptWriter | undefined): string {
  const content = bytes ?? new Uint8Array();
  const named = textOrEmpty(parameters, 'charset');
  const isUsable = encodingOf(named) !== undefined && !/^(?:us-)?ascii$/i.test(named);
  return decodeText(content, { declared: isUsable ? named : (declaredInHtml(content) ?? named), receipt });
}

/**
 * Joins the lines of text that says `format=flowed` (RFC 3676): a line that ends with a blank goes on in the next one,
 * unless the next one is quoted more or less deeply.
 * @param deletesBlanks whether these blanks are no part of the text (`DelSp=yes`)
 */
function joinFlowedLines(text: string, { deletesBlanks }: { deletesBlanks: boolean }): string {
  const lines: string[] = [];
  let open: { readonly depth: number; readonly pieces: string[] } | undefined;
  const close = (): void => {
    if (open) lines.push(`${'>'.repeat(open.depth)}${open.depth > 0 ? ' ' : ''}${open.pieces.join('')}`);
    open = undefined;
  };
  for (const line of text.split(/\r?\n/)) {
    const depth = line.search(/[^>]|$/);
    const content = line.slice(depth).replace(/^ /, '');
    if (open && open.depth !== depth) close();
    open ??= { depth, pieces: [] };
    const isFlowed = content.endsWith(' ') && content !== '-- ';
    open.pieces.push(isFlowed && deletesBlanks ? content.slice(0, -1) : content);
    if (!isFlowed) close();
  }
  close();
  return lines.join('\n');
}
