import type { OnMalformed } from '../shared/documents/record-fields.js';
import type { Say } from './report.js';

export interface LeftOut {
  readonly add: OnMalformed;
  /** Says how many documents were left out, if any. */
  readonly sum: () => void;
}

/** Says which documents a run leaves out because their records are malformed. They keep their old vectors. */
export function createLeftOut(say: Say): LeftOut {
  const ids = new Set<string>();
  return {
    add: (id) => {
      if (ids.has(id)) return;
      ids.add(id);
      say(`Document ${id} is left out: its record is malformed.`);
    },
    sum: () => {
      if (ids.size === 0) return;
      const what = ids.size === 1 ? '1 document was' : `${String(ids.size)} documents were`;
      say(`${what} left out, with a malformed record. Once it is repaired, put the content again.`);
    },
  };
}
