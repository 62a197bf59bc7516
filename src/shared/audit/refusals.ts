import type { RequestAction } from './actions.js';
import type { AuditEntry, RefusalsEntry, RequestEntry } from './entry.js';

const WINDOW_MILLISECONDS = 60_000;
/** Within a minute, refused requests of a kind leave so many lines, and those of all kinds so many. */
const MAX_LINES = 60;
const MAX_LINES_IN_ALL = 6_000;
/** So many kinds are told apart. What comes from further clients is counted for each action alone. */
const MAX_KINDS = 1_000;
const OTHERS = 'others';

const REFUSED = [401, 403, 404, 429];

/** Bounds what refused requests can have written, which need no token. */
export interface Refusals {
  /** Whether the line of an entry is written now. Where it is not, it is counted, and told of when the minute is over. */
  readonly admit: (entry: AuditEntry) => boolean;
  /** Tells of what was counted until now. */
  readonly tell: () => void;
}

/** Callers who are known are counted apart, so that nobody without a token has their lines left out. */
export function createRefusals(
  write: (entry: RefusalsEntry) => void,
  milliseconds = WINDOW_MILLISECONDS,
): Refusals {
  const windows = { known: createWindow(), unknown: createWindow() };
  let timer: NodeJS.Timeout | null = null;
  const tell = () => {
    if (timer) clearTimeout(timer);
    timer = null;
    for (const window of Object.values(windows)) window.takeCounts().forEach(write);
  };
  return {
    admit: (entry) => {
      if (entry.type !== 'request' || !isRefused(entry)) return true;
      timer ??= setTimeout(tell, milliseconds).unref();
      return windows[entry.caller === undefined ? 'unknown' : 'known'].admit(entry);
    },
    tell,
  };
}

/** Of somebody unknown, whatever is answered with an error is refused. */
const isRefused = ({ caller, status }: RequestEntry) =>
  status >= 400 && (caller === undefined || REFUSED.includes(status));

interface Kind {
  readonly action: RequestAction;
  readonly client: string;
  readonly caller?: string | undefined;
  lines: number;
  /** How often each status was left out. */
  readonly leftOut: Map<number, number>;
}

function createWindow() {
  const kinds = new Map<string, Kind>();
  let lines = 0;
  const kindOf = ({ action, client, caller }: RequestEntry): Kind => {
    const key = JSON.stringify([action, client, caller]);
    const isOther = kinds.size >= MAX_KINDS && !kinds.has(key);
    const known = kinds.get(isOther ? action : key);
    if (known) return known;
    const names = isOther ? { action, client: OTHERS } : { action, client, caller };
    const kind = { ...names, lines: 0, leftOut: new Map<number, number>() };
    kinds.set(isOther ? action : key, kind);
    return kind;
  };
  return {
    admit: (entry: RequestEntry): boolean => {
      const kind = kindOf(entry);
      if (kind.lines < MAX_LINES && lines < MAX_LINES_IN_ALL) {
        kind.lines += 1;
        lines += 1;
        return true;
      }
      kind.leftOut.set(entry.status, (kind.leftOut.get(entry.status) ?? 0) + 1);
      return false;
    },
    takeCounts: (): RefusalsEntry[] => {
      const entries = [...kinds.values()].filter(({ leftOut }) => leftOut.size > 0).map(entryOf);
      kinds.clear();
      lines = 0;
      return entries;
    },
  };
}

const entryOf = ({ action, client, caller, leftOut }: Kind): RefusalsEntry => ({
  type: 'refusals',
  action,
  caller,
  client,
  count: [...leftOut.values()].reduce((sum, each) => sum + each, 0),
  statuses: Object.fromEntries(leftOut),
});
