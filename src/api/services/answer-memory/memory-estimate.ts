import type { DocumentRecord } from '../../../shared/document.js';

/** Estimates the memory of a JSON value in bytes. Strings count two bytes for each UTF-16 unit. */
export function heldSize(value: unknown): number {
  if (typeof value === 'string') return 16 + 2 * value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let size = 32;
  for (const [name, inner] of Object.entries(value)) size += 16 + 2 * name.length + heldSize(inner);
  return size;
}

/** Estimates the memory of a record without the ids of its chunks. */
export function heldByRecord({ metadata, readers, writers, admins }: DocumentRecord): number {
  return heldSize([metadata, readers, writers, admins]) + 2_000;
}
