import type { ParseContext } from '../parser.js';
import type { MailMessage } from './message.js';

/** Takes down what the headers say of a file that is one message. */
export function noteMessage(message: MailMessage, { receipt }: ParseContext): void {
  receipt.setTitle(message.subject);
  if (message.language !== '') receipt.setLanguage(message.language);
}
