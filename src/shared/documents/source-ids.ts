import type { DocumentRecord } from '../document.js';
import { formerOwner, type Change } from './change.js';
import { ANSWER } from './commit/answers.js';

/*
 * The names of sources by which an owner's documents are found again, such as paths and addresses: a hash for each owner. The
 * commit script changes it in the step that writes a record, so that the two always agree.
 */

/** The owner of a document has another one of the same source. */
export class KnownSourceError extends Error {
  override readonly name = 'KnownSourceError';
  constructor() {
    super('the owner has a document of this source_id');
  }
}

/** Returns the fields of `change` that the two parts below read. A field without a value is missing there. */
export function sourceFields(before: DocumentRecord | null, change: Change) {
  const [left, entered] = [before?.sourceId ?? undefined, change.record?.sourceId ?? undefined];
  // The hashes of two owners are two.
  const isSame = left === entered && formerOwner(before, change) === null;
  return { sourceLeft: isSame ? undefined : left, sourceEntered: isSame ? undefined : entered };
}

/** Expects the locals `change` and `sources`, the key of the owner's hash. */
export const CHECK_SOURCE_IS_NEW = `
if change.sourceEntered then
  local holder = redis.call('HGET', sources, change.sourceEntered)
  if holder and holder ~= change.id then return ${String(ANSWER.knownSource)} end
end
`;

/** Expects `formerSources` as well, the key of the hash of who was the owner, in a list that is empty for most. */
export const INDEX_SOURCE = `
if change.sourceLeft then
  local former = formerSources[1] or sources
  if redis.call('HGET', former, change.sourceLeft) == change.id then redis.call('HDEL', former, change.sourceLeft) end
end
if change.sourceEntered then redis.call('HSET', sources, change.sourceEntered, change.id) end
`;
