import { at } from '../../shared/at.js';
import { BORDER } from './borders.js';
import { cutPosition, type SourceText } from './choose-cut.js';
import { borderWithin } from './layout.js';
import type { Window } from './token-window.js';

/** Returns where the next chunk starts: as many whole sentences before the cut as fit into `overlap` tokens, else lines or words. */
export function overlapStart(
  { text, layout }: SourceText,
  window: Window,
  { cut, overlap }: { cut: number; overlap: number },
): number {
  let tokens = 0;
  let best = cut;
  let bestBorder: number = BORDER.character;
  for (let index = window.counts.length - 1; index > 0; index -= 1) {
    if (at(window.borders, index) >= cut) continue;
    tokens += at(window.counts, index);
    if (tokens > overlap) break;
    const position = cutPosition(text, window, index);
    if (position >= cut) continue;
    const found = Math.min(borderWithin(layout, text, position), BORDER.sentence);
    if (found >= bestBorder) {
      best = position;
      bestBorder = found;
    }
  }
  return best;
}
