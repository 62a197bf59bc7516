import { ContentFilterError } from '../errors.js';
import { BadReplyError } from '../provider-http/bad-reply-error.js';

/** The reason for the end of a completion: the model was done, it was cut at its length, or the provider withheld the rest. */
export const FINISH_REASONS = ['stop', 'length', 'content_filter'] as const;
export type FinishReason = (typeof FINISH_REASONS)[number];

/** The names that providers give a cut at the length. */
const CUT = ['length', 'max_tokens', 'max_output_tokens', 'model_length', 'model_context_window_exceeded'];
/**
 * The names that OpenAI, Azure, Anthropic, Bedrock, Google, Cohere and Mistral give a completion that a filter has partly
 * withheld.
 */
const FILTERED = [
  'content_filter',
  'content_filtered',
  'refusal',
  'guardrail_intervened',
  'safety',
  'recitation',
  'blocklist',
  'prohibited_content',
  'spii',
  'error_toxic',
];
/** The names of an answer that asks for a tool to be called. */
const TOOLS = ['tool_calls', 'function_call', 'tool_use', 'tool_call'];

/** @param reason in any provider's word; words that are not known are an end */
function finishReasonOf(reason: string): FinishReason {
  const word = reason.toLowerCase();
  if (CUT.includes(word)) return 'length';
  return FILTERED.includes(word) ? 'content_filter' : 'stop';
}

/**
 * The reason for which a completion ended, as callers are told.
 * @throws ContentFilterError, BadReplyError for an answer without a text, which is no answer
 */
export function endOfCompletion(reason: string, { hasText }: { readonly hasText: boolean }): FinishReason {
  const told = finishReasonOf(reason);
  if (hasText || told === 'length') return told;
  if (told === 'content_filter') throw new ContentFilterError();
  throw new BadReplyError(
    TOOLS.includes(reason.toLowerCase()) ? 'calls tools and has no text' : 'has no text',
  );
}
