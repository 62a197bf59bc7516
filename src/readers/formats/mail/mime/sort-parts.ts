import { decodeText } from '../../../encoding/decode-text.js';
import { encodingOf } from '../../../encoding/labels.js';
import type { CarriedFile } from '../../../receipt/attachment-keeper.js';
import type { ReceiptWriter } from '../../../receipt/receipt-writer.js';
import { declaredInHtml } from '../../html/html.js';
import type { MailBody } from '../message.js';
import type { Part } from './parse-parts.js';

/** The content of a message, in the order of its parts. */
export interface SortedParts {
  readonly body: MailBody;
  /** Everything that is no text of the message itself. */
  readonly carried: readonly CarriedPart[];
}

export interface CarriedPart extends CarriedFile {
  /** True for a picture that the HTML of the message refers to. */
  readonly isShown: boolean;
}

const CALENDAR = /^(?:text\/calendar|application\/ics)$/;
/** Reports of mail servers, which people read as text. */
const REPORT = /^(?:message\/(?:delivery-status|disposition-notification)|text\/rfc822-headers)$/;

/** Divides the parts of a message into its text and the parts that it carries. */
export function sortParts(root: Part, receipt: ReceiptWriter | undefined): SortedParts {
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
export function holds(body: MailBody, kind: MailBody['kind']): boolean {
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
  if (!/^flowed$/i.test(parameters.get('format') ?? '')) return text;
  return joinFlowedLines(text, { deletesBlanks: /^yes$/i.test(parameters.get('delsp') ?? '') });
}

/** Decodes HTML in the charset of its part. Where that is none or ASCII, the charset counts that the HTML declares itself. */
function htmlOf({ bytes, parameters }: Part, receipt: ReceiptWriter | undefined): string {
  const content = bytes ?? new Uint8Array();
  const named = parameters.get('charset') ?? '';
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
    const depth = /^>*/.exec(line)?.[0].length ?? 0;
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
