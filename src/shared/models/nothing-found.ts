import type { CompletionEvent } from '../ports.js';
import { countTokens } from '../text/token-count.js';
import { NOTHING_FOUND } from './prompt.js';

/** The way from a search by words alone to one that finds meaning, with a model of this size. */
export const adviceToFindMore = (megabytes: number): string =>
  `This search compares words alone. A model of ${String(megabytes)} MB on this machine also finds the same meaning in other words: npx quire models pull, and docs/how-to/use-local-models.md.`;

/** Answers without the model, which would otherwise answer from elsewhere. */
export function* sayNothingFound(): Iterable<CompletionEvent> {
  yield { type: 'text', text: NOTHING_FOUND };
  yield { type: 'end', finishReason: 'stop', promptTokens: 0, completionTokens: countTokens(NOTHING_FOUND) };
}
