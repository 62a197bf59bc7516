import type { ParsedPage } from '@llamaindex/liteparse';
import type { ReceiptWriter } from '../../receipt/receipt-writer.js';

/**
 * Work that may be done for the pages of one file. It is counted, and not timed, so that the same bytes give the same text
 * and the same receipt on a busy machine. The time of a processor ends it only where pages take far longer than is counted
 * of them, such as maps of many lines, since the file would else take too long as a whole, and would not be read.
 */
export interface WorkBudget {
  isSpent(): boolean;
  spend(work: number): void;
  /** Does work whose time on the processor counts, too. */
  during<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Notes a page for which no work was left. */
  miss(page: number): void;
  /** Adds a gap for the pages that were noted, if there are any. */
  report(receipt: Pick<ReceiptWriter, 'addGap'>): void;
}

/** The seconds of the processor that the work of a file may take in all. */
const MAX_SECONDS = 40;

interface WorkTime {
  /** Tells whether the work took too long, with the work that is being done. */
  isOver(): boolean;
  during: WorkBudget['during'];
}

/** The time that the process was on a processor while work was done. It is about the same on a busy machine. */
function createWorkTime(): WorkTime {
  let spent = 0;
  let begun: ReturnType<typeof process.cpuUsage> | undefined;
  const total = (): number => {
    const { user, system } = begun ? process.cpuUsage(begun) : { user: 0, system: 0 };
    return spent + (user + system) / 1_000_000;
  };
  return {
    isOver: () => total() > MAX_SECONDS,
    during: async (work) => {
      begun = process.cpuUsage();
      try {
        return await work();
      } finally {
        spent = total();
        begun = undefined;
      }
    },
  };
}

/** @param sought what the pages are looked through for */
export function createWorkBudget(most: number, sought: string, time = createWorkTime()): WorkBudget {
  let left = most;
  let missed: { readonly first: number; readonly last: number } | undefined;
  return {
    isSpent: () => left <= 0 || time.isOver(),
    spend: (work) => {
      left -= work;
    },
    during: time.during,
    miss: (page) => {
      missed = { first: Math.min(page, missed?.first ?? page), last: Math.max(page, missed?.last ?? page) };
    },
    report: (receipt) => {
      const detail = `Not all of these pages were looked through for ${sought}, which takes too long.`;
      if (missed) receipt.addGap('limit', detail, { pages: missed });
    },
  };
}

/** The time of the second reader for a page without characters, in characters. */
const CHARACTERS_OF_PAGE = 1_500;

/** The work of asking the second reader for the texts of a page. */
export const charactersOf = ({ textItems }: Pick<ParsedPage, 'textItems'>): number =>
  textItems.reduce((sum, { text }) => sum + text.length, CHARACTERS_OF_PAGE);

/**
 * The budgets of a file. On pages of text a pixel takes 6 to 10 ns of a processor, a character 2 µs: the amounts are about 10,
 * 5, 5 and 10 seconds. Pages with scans take up to seven times as long for their pixels, and pages of lines without number longer.
 */
export function createWorkBudgets() {
  const time = createWorkTime();
  return {
    /** Pixels of pages that are drawn: some 450 pages with text, of the size of a letter. */
    hidden: createWorkBudget(1_200_000_000, 'hidden text', time),
    /** Characters of pages. */
    signs: createWorkBudget(2_500_000, 'signs of symbol fonts', time),
    /** Characters of pages, and of lines that characters are put into. */
    supplementary: createWorkBudget(2_500_000, 'characters beyond U+FFFF, such as emoji', time),
    /** Characters and operators of pages. */
    fontless: createWorkBudget(5_000_000, 'characters in fonts that are not in the file', time),
  };
}
export type WorkBudgets = ReturnType<typeof createWorkBudgets>;
