import type { ChatHistoryItem, ChatWrapper, LlamaModel, LlamaText, Token } from 'node-llama-cpp';
import { tokenizerOf } from '../tokenize.js';
import { commonLength } from './prefill.js';

export interface ChatTurn {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** A conversation in the tokens of a model, by the template that the model brings. */
export interface ChatPrompt {
  /** Without the token that begins every text, which the engine adds. */
  readonly tokens: Token[];
  /** The stops that end an answer, beside the model's own end of a turn. */
  readonly stops: readonly (LlamaText | string | readonly (string | Token)[])[];
}

export interface ChatTemplate {
  /** The name of the form in which conversations are written. Saved states depend on it. */
  readonly name: string;
  /** Markers in texts are text: only the template makes tokens that mean more. */
  render(turns: readonly ChatTurn[]): ChatPrompt;
  /** The tokens with which every conversation begins whose last turn begins with this one's, whatever follows it. */
  renderBeginning(turns: readonly ChatTurn[]): Token[];
  /** The marks that a model which thinks first writes around its thoughts; null for others. */
  readonly thoughts: { readonly begin: string; readonly end: string } | null;
}

export async function openChatTemplate(model: LlamaModel): Promise<ChatTemplate> {
  const { resolveChatWrapper } = await import('node-llama-cpp');
  const wrapper = resolveChatWrapper(model, { warningLogs: false });
  const render = (turns: readonly ChatTurn[]) => renderTurns(model, wrapper, turns);
  return {
    name: wrapper.wrapperName,
    render,
    renderBeginning: (turns) => {
      const [one, other] = CONTINUATIONS.map((text) => render(continued(turns, text)).tokens);
      return one && other ? one.slice(0, commonLength(one, other)) : [];
    },
    thoughts: thoughtsOf(wrapper),
  };
}

/** Two ways to go on that share no beginning. */
const CONTINUATIONS = ['\nA', '\n0'] as const;

function continued(turns: readonly ChatTurn[], text: string): ChatTurn[] {
  return turns.map((turn, i) =>
    i === turns.length - 1 ? { ...turn, content: `${turn.content}${text}` } : turn,
  );
}

function renderTurns(model: LlamaModel, wrapper: ChatWrapper, turns: readonly ChatTurn[]): ChatPrompt {
  const history: ChatHistoryItem[] = turns.map(({ role, content }) => {
    switch (role) {
      case 'system':
        return { type: 'system', text: content };
      case 'user':
        return { type: 'user', text: content };
      case 'assistant':
        return { type: 'model', response: [content] };
    }
  });
  history.push({ type: 'model', response: [] });
  const { contextText, stopGenerationTriggers } = wrapper.generateContextState({ chatHistory: history });
  const tokens = contextText.tokenize(tokenizerOf(model));
  const { bos } = model.tokens;
  return {
    tokens: bos !== null && tokens[0] === bos ? tokens.slice(1) : tokens,
    stops: stopGenerationTriggers,
  };
}

/** Tells whether a marker is written, rather than implied by the form of the prompt. */
const isText = (marker: string | LlamaText | object | undefined): marker is string | LlamaText =>
  typeof marker === 'string' || (marker !== undefined && 'values' in marker);

/** Special tokens of it are written as they are spelt. */
function plainText(text: string | LlamaText): string {
  if (typeof text === 'string') return text;
  return text.values.map((value) => (typeof value === 'string' ? value : value.value)).join('');
}

function thoughtsOf({ settings }: ChatWrapper): ChatTemplate['thoughts'] {
  const thought = settings.segments?.thought;
  if (!thought || !isText(thought.prefix) || !isText(thought.suffix)) return null;
  const [begin, end] = [plainText(thought.prefix), plainText(thought.suffix)];
  return begin !== '' && end !== '' ? { begin, end } : null;
}

interface ThoughtFilter {
  /** Returns the part of the text so far that is surely no thought and was not returned yet. */
  push(text: string): string;
  /** Returns the text that was held back at the end. */
  end(): string;
}

/**
 * Leaves out the thoughts of a model before it answers.
 *
 * @param before the end of the prompt, which may open a thought already
 */
export function createThoughtFilter(
  thoughts: { readonly begin: string; readonly end: string } | null,
  before: string,
): ThoughtFilter {
  if (!thoughts) return { push: (text) => text, end: () => '' };
  const [begin, end] = [thoughts.begin.trim(), thoughts.end.trim()];
  let isThinking = before.trimEnd().endsWith(begin);
  let held = '';
  return {
    push: (text) => {
      held += text;
      let shown = '';
      for (;;) {
        const marker = isThinking ? end : begin;
        const at = held.indexOf(marker);
        if (at < 0) {
          // Text that may be the beginning of a marker waits for its rest.
          const kept = overlapLength(held, marker);
          if (!isThinking) shown += held.slice(0, held.length - kept);
          held = held.slice(held.length - kept);
          return shown;
        }
        if (!isThinking) shown += held.slice(0, at);
        held = held.slice(at + marker.length);
        if (isThinking) held = held.trimStart();
        isThinking = !isThinking;
      }
    },
    end: () => (isThinking ? '' : held),
  };
}

/** The length of the longest end of a text that is a beginning of the marker. */
function overlapLength(text: string, marker: string): number {
  for (let length = Math.min(text.length, marker.length - 1); length > 0; length -= 1) {
    if (text.endsWith(marker.slice(0, length))) return length;
  }
  return 0;
}
