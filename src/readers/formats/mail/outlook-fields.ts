import { z } from 'zod';

// The library decodes a property by the type that the file states, so that any may hold anything. A value of another type
// than the property has counts as absent.
const text = z.string().optional().catch(undefined);
const number = z.number().optional().catch(undefined);
const bytes = z.instanceof(Uint8Array).optional().catch(undefined);
const isTrue = z.literal(true).optional().catch(undefined);
/** The library writes dates as HTTP does. */
const date = z
  .string()
  .refine((value) => !Number.isNaN(Date.parse(value)))
  .optional()
  .catch(undefined);

const recipientSchema = z.object({ recipType: text, name: text, smtpAddress: text, email: text });

const attachmentSchema = z.object({
  /** The number of the stream with its bytes; absent for a message. */
  dataId: number,
  attachmentHidden: isTrue,
  fileName: text,
  fileNameShort: text,
  name: text,
  attachMimeTag: text,
  /** The properties of a message as the library gives them, which are parsed when it is read. */
  innerMsgContentFields: z.unknown().optional(),
});

/** The properties of a message of Outlook that are read, by the library's names for them. */
export const outlookFieldsSchema = z.object({
  messageClass: text,
  subject: text,
  normalizedSubject: text,
  senderName: text,
  senderSmtpAddress: text,
  senderEmail: text,
  clientSubmitTime: date,
  messageDeliveryTime: date,
  messageId: text,
  messageCodepage: number,
  internetCodepage: number,
  body: text,
  bodyHtml: text,
  html: bytes,
  compressedRtf: bytes,
  recipients: z.array(recipientSchema).default([]),
  attachments: z.array(attachmentSchema).default([]),
});
export type OutlookFields = z.infer<typeof outlookFieldsSchema>;
