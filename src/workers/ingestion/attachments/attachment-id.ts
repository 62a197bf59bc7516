import { hash } from 'node:crypto';
import type { Content, DocumentRecord } from '../../../shared/document.js';

/** The document that carries an attachment, and the fields of its content that make the id. */
type Parent = Pick<DocumentRecord, 'id'> & Pick<Content, 'storageKey' | 'carriedSeries'>;

/**
 * Returns the id of the document that is made of an attachment. Each run over the same content gives the same id, so that a
 * job that runs again makes no second document; content that was cancelled and comes again gives another id. The form is a
 * UUID of version 8 (RFC 9562).
 */
export function attachmentId({ id, storageKey, carriedSeries }: Parent, position: number): string {
  const series = carriedSeries === undefined ? [] : [carriedSeries];
  const digest = hash('sha256', JSON.stringify([id, storageKey, position, ...series]), 'hex');
  const variant = '89ab'.charAt(parseInt(digest.charAt(16), 16) % 4);
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    variant + digest.slice(17, 20),
    digest.slice(20, 32),
  ].join('-');
}
