import { addTo } from '../at.js';
import type { RequestAction, AuditEntry, RefusalsEntry, RequestEntry } from './entry.js';

const WINDOW_MILLISECONDS = 60_000;
/** The number of lines that refused requests leave within a minute, of a kind and of all kinds. */
const MAX_LINES = 60;
const MAX_LINES_IN_ALL = 6_000;
/** The number of kinds that are told apart. Requests of further clients are counted for each action alone. */
const MAX_KINDS = 1_000;
const OTHERS = 'others';

const REFUSED = [401, 403, 404, 429];

/** Bounds the lines of refused requests, which need no token. */
export interface Refusals {
  /** Tells whether the line of an entry is written now. Otherwise it is counted, and reported when the minute is over. */
  readonly admit: (entry: AuditEntry) => boolean;
  /** Reports the counts so far. */
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

/** Tells whether a request was refused. Every error that an unknown caller gets is a refusal. */
const isRefused = ({ caller, status }: RequestEntry) =>
  status >= 400 && (caller === undefined || REFUSED.includes(status));

interface Kind {
  readonly action: RequestAction;
  readonly client: string;
  readonly caller?: string | undefined;
  lines: number;
  /** The number of times that each status was left out. */
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
      addTo(kind.leftOut, entry.status);
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
