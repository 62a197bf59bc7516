import { randomUUID } from 'node:crypto';

const name = /^[A-Za-z0-9._-]{1,128}$/;

/** Tells whether `key` is a list of names separated by `/` that no object storage could misread. */
export function isObjectKey(key: string): boolean {
  const names = key.split('/');
  return key.length <= 512 && names.every((part) => name.test(part) && part !== '.' && part !== '..');
}

/** @throws Error unless `isObjectKey` */
export function assertObjectKey(key: string): void {
  if (!isObjectKey(key)) throw new Error('invalid object key');
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/**
 * Makes the key for the source bytes of a version. It names the document, so that a process that is
 * about to remove the object can ask for the record. The folder names the hour, so that documents that
 * come together share the cost of making its entries durable.
 */
export function sourceKey({ documentId, version }: { documentId: string; version: number }): string {
  const hour = new Date().toISOString().slice(0, 13);
  return `${hour}/${documentId}-${String(version)}-${randomUUID()}`;
}

/** The document whose source has this key; null when the key is not one of a source. */
export function documentOfSource(key: string): string | null {
  const name = /^\d{4}-[^/]*\/(.*)$/.exec(key)?.[1];
  return (name === undefined ? undefined : UUID.exec(name)?.[0]) ?? null;
}
