/** For routes that tell of usage, where no reads wait to be stored. */
import { eachOf } from '../../src/api/services/stream-end.js';

export const noReads = { untilStored: () => Promise.resolve() };
/** Callers who have done nothing lately. */
export const noRecent = () => Promise.resolve(eachOf([]));
