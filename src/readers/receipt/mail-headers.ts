import { z } from 'zod';

/** Most addresses of each kind that filters can name, and most UTF-16 units of a header. */
export const MAX_ADDRESSES = 32;
export const MAX_HEADER_CHARACTERS = 500;

const text = z.string().max(MAX_HEADER_CHARACTERS);
const addresses = z.array(text).max(MAX_ADDRESSES);

/** The headers of a message, as filters ask for them. Addresses are in lower case, without names. */
export const mailHeadersSchema = z.object({
  from: addresses,
  to: addresses,
  cc: addresses,
  /** ISO 8601 in UTC; null where the message has no date that can be read. */
  date: text.nullable(),
  subject: text.nullable(),
  /** Without angle brackets, as JMAP has it (RFC 8621). */
  message_id: text.nullable(),
});
export type MailHeaders = z.infer<typeof mailHeadersSchema>;
