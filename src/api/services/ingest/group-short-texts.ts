import { randomUUID } from 'node:crypto';
import { slicesOf } from '../../../shared/batches.js';
import type { NewRecord } from '../../../shared/documents/change.js';

/** A job of this many short texts occupies a worker for some tens of milliseconds. */
export const MAX_GROUP = 32;

/** Puts new short texts of one caller into groups. One job ingests a group; all others get jobs of their own. */
export function groupShortTexts<Created extends NewRecord>(created: readonly Created[]): Created[] {
  const short = created.filter(({ source }) => source !== undefined);
  const groups = new Map<Created, string>();
  for (const members of slicesOf(short, MAX_GROUP)) {
    const group = randomUUID();
    if (members.length > 1) for (const each of members) groups.set(each, group);
  }
  return created.map((each) => ({ ...each, group: groups.get(each) }));
}
