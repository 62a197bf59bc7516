import PostalMime, { decodeWords, type Address, type Attachment, type Email } from 'postal-mime';
import { IngestError } from '../../../../shared/errors.js';
import type { CarriedFile } from '../../extraction/attachment-keeper.js';
import { hasLooseHtml } from './body/loose-html.js';
import { checkMailSize } from './check-mail-size.js';
import type { MailBody, MailMessage } from './message.js';
import { signedContent } from './signed-content.js';
import { toReadableMail } from './mail-encoding.js';

/** More parts within parts than any mail program writes. */
const DEEPEST_PART = 64;
/** Most bytes of the headers of all parts of a message. */
const MOST_HEADER_BYTES = 1024 * 1024;

const SIGNATURES = new Set([
  'application/pgp-signature',
  'application/pkcs7-signature',
  'application/x-pkcs7-signature',
]);
const SEALED = new Set(['application/pkcs7-mime', 'application/x-pkcs7-mime']);
/** Headers of which a message has at least one. */
const TELLING = new Set(
  'from to cc bcc subject date sender received message-id mime-version content-type return-path delivered-to reply-to'.split(
    ' ',
  ),
);

interface MimeOptions {
  /** Whether the bytes may have no headers of a message, as the content of a signature. */
  readonly isPart?: boolean | undefined;
}

/** Reads a message in the format of RFC 5322 with MIME. @throws IngestError when it is none, or is out of bounds */
export async function readMime(
  bytes: Uint8Array,
  { isPart = false }: MimeOptions = {},
): Promise<MailMessage> {
  const readable = toReadableMail(bytes);
  checkMailSize(readable);
  const { email, isMerged } = await parseMail(readable);
  if (!isPart && !email.headers.some(({ key }) => TELLING.has(key)))
    throw new IngestError('corrupt', 'The file is no e-mail message: it has none of its headers.');
  const header = (name: string): string => oneLine(headerOf(email, name));
  const parts = sortAttachments(email);
  return {
    subject: oneLine(email.subject ?? ''),
    from: addressText(email.from ? [email.from] : []),
    to: addressText(email.to ?? []),
    cc: addressText(email.cc ?? []),
    date: header('date'),
    addresses: {
      from: email.from ? bareAddresses([email.from]) : [],
      to: bareAddresses(email.to ?? []),
      cc: bareAddresses(email.cc ?? []),
    },
    messageId: header('message-id'),
    language: header('content-language').split(',')[0]?.trim() ?? '',
    body: parts.isEncrypted ? { kind: 'encrypted' } : bodyOf(email, isMerged),
    attachments: parts.attachments,
    nested: parts.nested,
  };
}

async function parseMail(bytes: Uint8Array): Promise<{ email: Email; isMerged: boolean }> {
  const parser = new PostalMime({
    // They are read here, since an e-mail that is attached is text as much as one that is quoted.
    forceRfc822Attachments: true,
    maxNestingDepth: DEEPEST_PART,
    maxHeadersSize: MOST_HEADER_BYTES,
  });
  try {
    const email = await parser.parse(bytes);
    return { email, isMerged: hasLooseHtml(Reflect.get(parser, 'root')) };
  } catch (cause) {
    if (!(cause instanceof Error) || !cause.message.startsWith('Maximum ')) throw cause;
    throw new IngestError('too_large', 'The headers or the nested parts of the e-mail exceed the limits.', {
      cause,
    });
  }
}

const headerOf = ({ headers }: Email, name: string): string => {
  const value = headers.find(({ key }) => key === name)?.value;
  return value === undefined ? '' : decodeWords(value);
};

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

function addressText(addresses: readonly Address[]): string {
  return oneLine(addresses.map(oneAddress).join(', '));
}

function oneAddress({ name, address, group }: Address): string {
  if (group) return `${name}: ${group.map(oneAddress).join(', ')}`;
  if (name === '') return address;
  return address === '' || address === name ? name : `${name} <${address}>`;
}

const bareAddresses = (addresses: readonly Address[]): string[] =>
  addresses.flatMap(({ name, address, group }) => (group ? bareAddresses(group) : [address || name]));

/** The text that people would read: plain text, else HTML. @param isMerged whether the plain text has that of HTML in it */
function bodyOf({ text, html }: Email, isMerged: boolean): MailBody {
  if (text !== undefined && /^\s*-----BEGIN PGP MESSAGE-----/.test(text)) return { kind: 'encrypted' };
  if (text !== undefined && text.trim() !== '' && !(isMerged && html !== undefined))
    return { kind: 'text', text };
  return html === undefined ? { kind: 'none' } : { kind: 'html', html };
}

/** Divides what postal-mime calls attachments into files, messages and what encryption and signatures need. */
function sortAttachments(email: Email) {
  const attachments: CarriedFile[] = [];
  const nested: (() => Promise<MailMessage>)[] = [];
  let isEncrypted = /^multipart\/encrypted\b/i.test(headerOf(email, 'content-type'));
  for (const attachment of email.attachments) {
    const bytes = bytesOf(attachment);
    const type = attachment.mimeType;
    if (SIGNATURES.has(type) || isShownPicture(attachment, email)) continue;
    if (SEALED.has(type)) {
      const content = signedContent(bytes);
      if (content) nested.push(() => readMime(content, { isPart: true }));
      else isEncrypted = true;
    } else if (type === 'message/rfc822' || type === 'message/global') nested.push(() => readMime(bytes));
    else if (!isEncrypted) attachments.push({ filename: attachment.filename, contentType: type, bytes });
  }
  return { attachments, nested, isEncrypted };
}

const bytesOf = ({ content }: Attachment): Uint8Array =>
  typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content);

/** Whether a picture belongs to the HTML, which refers to it. */
const isShownPicture = ({ related, mimeType }: Attachment, { html }: Email): boolean =>
  related === true && html !== undefined && mimeType.startsWith('image/');
