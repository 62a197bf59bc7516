import { MAX_ADDRESSES, MAX_HEADER_CHARACTERS, type MailHeaders } from '../../receipt/receipt.js';
import { cleanText } from '../../blocks/clean-text.js';
import type { ReadContext } from '../../parser.js';
import type { MailMessage } from './message.js';
import { oneLine } from '../../blocks/one-line.js';

/** Notes the headers of a file that is one message. */
export function noteMessage(message: MailMessage, { receipt }: ReadContext): void {
  receipt.setTitle(message.subject);
  if (message.language !== '') receipt.setLanguage(message.language);
  receipt.setMail(headersOf(message));
}

function headersOf({ addresses, date, subject, messageId }: MailMessage): MailHeaders {
  return {
    from: bareAddresses(addresses.from),
    to: bareAddresses(addresses.to),
    cc: bareAddresses(addresses.cc),
    date: toInstant(date),
    subject: short(subject) || null,
    message_id: short(messageId).replace(/^</, '').replace(/>$/, '') || null,
  };
}

const bareAddresses = (addresses: readonly string[]): string[] => [
  ...new Set(
    addresses
      .slice(0, MAX_ADDRESSES)
      .map((address) => short(address).toLowerCase().slice(0, MAX_HEADER_CHARACTERS))
      .filter((address) => address !== ''),
  ),
];

/** Cuts to one line that can be stored. */
const short = (text: string): string => oneLine(cleanText(text.slice(0, MAX_HEADER_CHARACTERS), false));

/** Returns the date as ISO 8601 in UTC; null without a date, or for one that filters could not compare. */
function toInstant(date: string): string | null {
  // A comment, such as the name of the zone, may follow it (RFC 5322).
  const [withoutComment = ''] = date.slice(0, 100).split('(');
  const milliseconds = Date.parse(withoutComment);
  if (Number.isNaN(milliseconds)) return null;
  const instant = new Date(milliseconds).toISOString();
  // Years before 0 and after 9999 have a sign and six digits.
  return instant.length === 24 ? instant : null;
}
