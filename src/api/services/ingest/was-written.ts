import type { DocumentRecord } from '../../../shared/document.js';
import type { Records } from '../../../shared/documents/records.js';

/**
 * Tells whether Redis has written a record although its reply was lost; null while that is unknown. Then the bytes of its
 * source stay: the sweep removes them later if no record refers to them.
 */
export async function wasWritten(
  records: Pick<Records, 'read'>,
  { id, pending: content }: DocumentRecord,
): Promise<boolean | null> {
  try {
    const found = await records.read(id);
    return [found?.pending, found?.published].some(
      (each) => each != null && each.storageKey === content?.storageKey,
    );
  } catch {
    return null;
  }
}
