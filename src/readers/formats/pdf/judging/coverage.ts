import type { PageComplexityStats, ParsedPage } from '@llamaindex/liteparse';
import { hasFewCharacters, judgeText } from './judge-text.js';
import type { Pdfium } from '../../pages/pdfium.js';

export type Coverage = ReturnType<typeof createCoverage>;

/**
 * Measures how far pages of a batch are covered by pictures and drawings. This takes time and matters only for pages with
 * little text. All such pages of the batch are measured when the first one is asked for.
 */
export function createCoverage(pdfium: Pdfium, bytes: Uint8Array, pages: readonly ParsedPage[]) {
  const known = new Map<number, PageComplexityStats | undefined>();
  const read = async (numbers: readonly number[]): Promise<void> => {
    const found = await pdfium.readCoverage(bytes, numbers).catch(() => undefined);
    for (const number of numbers) known.set(number, found?.get(number));
  };
  return {
    /** Undefined when that cannot be told. */
    async of({ pageNum }: Pick<ParsedPage, 'pageNum'>): Promise<PageComplexityStats | undefined> {
      if (!known.has(pageNum)) {
        const others = pages.filter((page) => page.pageNum !== pageNum && !known.has(page.pageNum));
        await read([pageNum, ...others.filter(hasLittleText).map((page) => page.pageNum)]);
      }
      return known.get(pageNum);
    },
  };
}

function hasLittleText({ textItems }: ParsedPage): boolean {
  const text = textItems.map((item) => item.text).join(' ');
  return judgeText(text) !== 'readable' || hasFewCharacters(text);
}
