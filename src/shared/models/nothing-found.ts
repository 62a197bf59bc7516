import type { CompletionEvent } from '../ports.js';
import { countTokens } from '../text/token-count.js';
import { NOTHING_FOUND } from './prompt.js';

/** Answers without the model, which would otherwise answer from elsewhere. */
export function* sayNothingFound(): Iterable<CompletionEvent> {
  yield { type: 'text', text: NOTHING_FOUND };
  yield { type: 'end', finishReason: 'stop', promptTokens: 0, completionTokens: countTokens(NOTHING_FOUND) };
}
