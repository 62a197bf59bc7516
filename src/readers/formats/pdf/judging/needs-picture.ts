import type { ParsedPage } from '@llamaindex/liteparse';
import type { Coverage } from './coverage.js';
import { hasFewCharacters, judgeText } from './judge-text.js';

/** Tells whether the text of a page is missing, garbled, or little beside its picture. */
export async function needsPicture(text: string, page: ParsedPage, coverage: Coverage): Promise<boolean> {
  const verdict = judgeText(text);
  if (verdict === 'garbled') return true;
  if (verdict === 'readable' && !hasFewCharacters(text)) return false;
  const covered = await coverage.of(page);
  // The picture of an empty page shows what nothing else tells.
  if (!covered) return verdict === 'empty';
  const { fullPageImage, imageCoverage, largestImageCoverage, uncoveredVectorArea = 0 } = covered;
  // Text that is drawn as outlines is no picture, but is seen as one.
  if (verdict === 'empty') return fullPageImage || imageCoverage > 0 || uncoveredVectorArea > 0;
  return fullPageImage || largestImageCoverage > 0.5 || imageCoverage > 0.5;
}
