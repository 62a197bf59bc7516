import { randomUUID } from 'node:crypto';

const name = /^[A-Za-z0-9._-]{1,128}$/;

/** @throws Error unless `key` is `/`-separated names that no object storage could take for anything but names */
export function assertObjectKey(key: string): void {
  const names = key.split('/');
  const valid = key.length <= 512 && names.every((part) => name.test(part) && part !== '.' && part !== '..');
  if (!valid) throw new Error('invalid object key');
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/**
 * A key of its own for the source bytes of a version. It names the document, so that a process that is about to remove the
 * object can ask its record; and a folder an hour, so that documents that come together share what it costs to make its
 * entries durable.
 */
export function sourceKey({ documentId, version }: { documentId: string; version: number }): string {
  const hour = new Date().toISOString().slice(0, 13);
  return `${hour}/${documentId}-${String(version)}-${randomUUID()}`;
}

/** The document whose source is kept under `key`; null when it is no source's. */
export function documentOfSource(key: string): string | null {
  return UUID.exec(/^\d{4}-[^/]*\/(.*)$/.exec(key)?.[1] ?? '')?.[0] ?? null;
}
