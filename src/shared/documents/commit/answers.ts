/**
 * The answers of the scripts that write records, by which their Lua and TypeScript speak: what came of a change. Where a
 * change passes a quota, the answer is `overQuota` minus the place of the quota, from 1 on.
 */
export const ANSWER = {
  written: 1,
  /** The record, or the one that it stands beside, has changed since it was read; or there is one with this id. */
  changedMeanwhile: 0,
  /** Searches use other vectors than the process makes, which it has not noticed yet. */
  reindexed: -1,
  /** The record would refer to an access group that is not registered: it has to be registered first. */
  unknownAccessGroup: -2,
  /** A generation lacks something, because Redis came back without its last writes. */
  notWhole: -3,
  /** Chunks that are being re-tagged would name too many access groups. */
  tooManyAccessGroups: -4,
  /** The owner has a document of the same content. */
  sameContent: -5,
  /** Another run holds the reservation. */
  lostReservation: -6,
  /** A document that a key stands for was deleted, so that it must not come back. */
  deleted: -7,
  /** The record refers to access groups whose keys the script was not given. */
  otherAccessGroups: -8,
  /** The owner has another document of the same source. */
  knownSource: -9,
  overQuota: -10,
} as const;
