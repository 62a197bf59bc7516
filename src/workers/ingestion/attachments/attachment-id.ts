import { hash } from 'node:crypto';

/**
 * The id of the document that is made of an attachment. It is the same in each run over the same content, so that a job that
 * runs again makes no second one. The form is that of a UUID of version 8 (RFC 9562).
 */
export function attachmentId(parent: { id: string; storageKey: string }, position: number): string {
  const digest = hash('sha256', JSON.stringify([parent.id, parent.storageKey, position]), 'hex');
  const variant = '89ab'.charAt(parseInt(digest.charAt(16), 16) % 4);
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    variant + digest.slice(17, 20),
    digest.slice(20, 32),
  ].join('-');
}
