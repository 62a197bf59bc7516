import { NOTHING_FOUND } from '../../models/prompt.js';
import type { Completer, CompletionEvent, CompletionOptions, Passage, Prompt } from '../../ports.js';
import { extractSentences, type Extract } from './extract-sentences.js';
import { countLongText, cutToTokens } from '../../text/token-budget.js';
import { countTokens } from '../../text/token-count.js';

const INTRODUCTION = 'Extracted from the documents (no language model is configured):\n';

/** A completer without a model: it answers with the sentences of the passages that fit the question best, and cites them. */
export function createBuiltinCompleter({ contextWindow = 131_072 } = {}): Completer {
  return { model: 'builtin-extract-1', contextWindow, complete };
}

async function* complete(prompt: Prompt, options: CompletionOptions = {}): AsyncIterable<CompletionEvent> {
  const { maxTokens, signal } = options;
  signal?.throwIfAborted();
  const pieces = renderAnswer(await extractSentences(prompt), prompt.passages);
  const whole = pieces.join('');
  const answer = maxTokens === undefined ? whole : cutToTokens(whole, maxTokens, countTokens);
  let sent = 0;
  for (const piece of pieces) {
    signal?.throwIfAborted();
    const text = piece.slice(0, answer.length - sent);
    if (text === '') break;
    sent += text.length;
    yield { type: 'text', text };
  }
  yield {
    type: 'end',
    finishReason: answer.length < whole.length ? 'length' : 'stop',
    promptTokens: await countPrompt(prompt),
    completionTokens: countTokens(answer),
  };
}

function renderAnswer(extracts: readonly Extract[], passages: readonly Passage[]): string[] {
  if (extracts.length === 0) return [NOTHING_FOUND];
  const cited = [...new Set(extracts.map(({ passage }) => passage))].sort(
    (left, right) => passages.indexOf(left) - passages.indexOf(right),
  );
  const numberOf = (passage: Passage) => String(passages.indexOf(passage) + 1);
  return [
    INTRODUCTION,
    ...extracts.map(({ sentence, passage }) => `\n${sentence} [${numberOf(passage)}]`),
    '\n',
    ...cited.map(
      (passage) =>
        `\n[${numberOf(passage)}] document ${passage.documentId}, chunk ${String(passage.chunkNumber)}`,
    ),
  ];
}

async function countPrompt({ question, passages }: Prompt): Promise<number> {
  return countLongText([...passages.map(({ text }) => text), question].join('\n'), countTokens);
}
