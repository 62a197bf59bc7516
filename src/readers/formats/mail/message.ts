import type { CarriedFile } from '../../receipt/attachment-keeper.js';

export type MailBody =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'html'; readonly html: string }
  | { readonly kind: 'rtf'; readonly rtf: Uint8Array }
  /** In the format of RFC 5545. */
  | { readonly kind: 'calendar'; readonly text: string }
  /** The same text twice, or not quite the same. */
  | { readonly kind: 'alternative'; readonly plain: MailBody; readonly rich: MailBody }
  | { readonly kind: 'parts'; readonly parts: readonly MailBody[] }
  | { readonly kind: 'encrypted' }
  | { readonly kind: 'none' };

/** A message of electronic mail, in whatever format it was kept. Absent headers are empty. */
export interface MailMessage {
  readonly subject: string;
  readonly from: string;
  readonly to: string;
  readonly cc: string;
  readonly date: string;
  /** Bare addresses, or names where there is no address. */
  readonly addresses: Readonly<Record<'from' | 'to' | 'cc', readonly string[]>>;
  /** With or without angle brackets. */
  readonly messageId: string;
  /** The language that it says it is in, as BCP 47. */
  readonly language: string;
  readonly body: MailBody;
  /** Files that it carries, without pictures that its HTML shows and without signatures. */
  readonly attachments: readonly CarriedFile[];
  /** Messages that it carries as such, which are read one after the other. @throws ReadError for a broken one */
  readonly nested: readonly (() => MailMessage | Promise<MailMessage>)[];
}
