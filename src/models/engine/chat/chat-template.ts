import type { ChatHistoryItem, ChatWrapper, LlamaModel, LlamaText, Token } from 'node-llama-cpp';
import { tokenizerOf } from '../tokenize.js';
import { commonLength } from './common-length.js';

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
