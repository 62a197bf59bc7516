import type { Llama, LlamaModel, Token } from 'node-llama-cpp';
import { ModelError } from '../model-error.js';
import { withBegin } from '../tokenize.js';
import type { ModelTurnRequest } from '../model-turns.js';
import { createThoughtFilter, type ChatPrompt, type ChatTemplate, type ChatTurn } from './chat-template.js';
import { inTurns, type Slot, type Slots } from './slots.js';
import { prefill } from './prefill.js';
import type { SavedState } from './load-state.js';
import type { StateFiles } from './saved-states.js';
import type { StateOwner } from './state-manifest.js';

export interface ChatRequest {
  readonly turns: readonly ChatTurn[];
  /** Without it, the answer may fill the window. */
  readonly maxTokens?: number | undefined;
  /** 0 by default, so that an answer can be repeated. */
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly seed?: number | undefined;
  readonly stop?: readonly string[] | undefined;
  /** The name of a saved state that may hold the beginning of the prompt. */
  readonly state?: string | undefined;
}

export interface ChatEnd {
  readonly finishReason: 'stop' | 'length';
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Tokens of the prompt that the model had read before. */
  readonly reusedTokens: number;
}

export interface PreparedState {
  readonly tokens: number;
  readonly reusedTokens: number;
  readonly bytes: number;
}

interface NewStateRequest {
  readonly turns: readonly ChatTurn[];
  readonly id: string;
  /** The group of the state: states of one group give way to each other first. */
  readonly group: string;
  /** Another state that may hold a beginning of it. */
  readonly from?: string | undefined;
}

export interface ChatModel {
  /** @throws ModelError `context_length_exceeded`; the signal's reason when it aborts */
  complete(
    request: ChatRequest,
    call: ModelTurnRequest & { readonly onText: (text: string) => void },
  ): Promise<ChatEnd>;
  /** Reads the beginning of a conversation, up to the end of its last turn so far, and saves the model's state after it. */
  prepare(
    request: NewStateRequest,
    call: ModelTurnRequest & { readonly onProgress: (read: number, of: number) => void },
  ): Promise<PreparedState>;
}

interface Parts {
  readonly llama: Llama;
  readonly model: LlamaModel;
  readonly template: ChatTemplate;
  readonly slots: Slots;
  readonly states: StateFiles;
  /** The model file that states belong to. */
  readonly fingerprint: string;
  /** Called each time that a conversation gives way to another. */
  readonly onGaveWay: () => void;
}

export function createChatModel(parts: Parts): ChatModel {
  const { model, template, slots } = parts;
  return {
    complete: async (request, call) => {
      checkCharacters(request.turns, slots.window);
      const prompt = template.render(request.turns);
      const beginning = withBegin(model, prompt.tokens);
      checkLength(beginning.length, slots.window);
      const saved = await findState(parts, request.state);
      const writing = createWriting(parts, { prompt, request, used: beginning.length, onText: call.onText });
      const tokens = () => [...beginning, ...writing.tokens];
      let reusedTokens: number | null = null;
      return inTurns(parts, { tokens, saved, call }, async (slot, signal) => {
        const reused = await prefill(slot.sequence, tokens().slice(0, -1), { signal });
        reusedTokens ??= reused;
        const end = await writing.goOn(slot, signal);
        return { ...end, promptTokens: beginning.length, reusedTokens };
      });
    },
    prepare: async ({ turns, id, group, from }, call) => {
      checkCharacters(turns, slots.window);
      const tokens = withBegin(model, template.renderBeginning(turns));
      checkLength(tokens.length, slots.window);
      const saved = await findState(parts, from);
      let reusedTokens: number | null = null;
      const conversation = { tokens: () => tokens, saved, call };
      return inTurns(parts, conversation, async (slot, signal) => {
        const reused = await prefill(slot.sequence, tokens, { signal, onProgress: call.onProgress });
        reusedTokens ??= reused;
        const state = { ...ownerOf(parts), group, tokens, sequence: slot.sequence };
        const { bytes } = await parts.states.save(id, state);
        return { tokens: tokens.length, reusedTokens, bytes };
      });
    },
  };
}

/** Texts have fewer characters a token. Tokens are made while everything else in the process waits. */
const CHARACTERS_PER_TOKEN = 16;

function checkCharacters(turns: readonly ChatTurn[], window: number): void {
  const characters = turns.reduce((sum, { content }) => sum + content.length, 0);
  if (characters <= CHARACTERS_PER_TOKEN * window) return;
  const tokens = Math.ceil(characters / CHARACTERS_PER_TOKEN);
  throw tooLong(`at least ${String(tokens)} tokens`, tokens, window);
}

function checkLength(tokens: number, window: number): void {
  if (tokens + FREE_TOKENS > window) throw tooLong(`${String(tokens)} tokens`, tokens, window);
}

/** One token for the answer, and one that the engine keeps free. */
const FREE_TOKENS = 2;

function tooLong(length: string, tokens: number, window: number): ModelError {
  return new ModelError(
    'context_length_exceeded',
    `the prompt takes ${length}, the model reads ${String(window - FREE_TOKENS)}`,
    { field: 'messages', tokens },
  );
}

function ownerOf({ llama, template, slots, fingerprint }: Parts): StateOwner {
  const { release } = llama.llamaCppRelease;
  return { fingerprint, template: template.name, window: slots.window, engine: release };
}

function findState(parts: Parts, id: string | undefined): Promise<SavedState | null> {
  return id === undefined ? Promise.resolve(null) : parts.states.find(id, ownerOf(parts));
}

interface Writing {
  /** The tokens written so far. */
  readonly tokens: readonly Token[];
  /** Writes on until the end of the answer. An answer that the signal interrupts can be continued, also in another slot. */
  goOn(slot: Slot, signal: AbortSignal): Promise<Pick<ChatEnd, 'finishReason' | 'completionTokens'>>;
}

interface WritingOptions {
  readonly prompt: ChatPrompt;
  readonly request: ChatRequest;
  /** Tokens of the window that the prompt takes. */
  readonly used: number;
  readonly onText: (text: string) => void;
}

function createWriting(
  { model, template, slots }: Parts,
  { prompt, request, used, onText }: WritingOptions,
): Writing {
  const visible = createThoughtFilter(template.thoughts, model.detokenize(prompt.tokens.slice(-16), true));
  const show = (text: string) => {
    if (text !== '') onText(text);
  };
  const maxTokens = Math.min(request.maxTokens ?? Infinity, slots.window - used - 1);
  // Tokens that may begin a stop text are held back. They are written anew when the writing is interrupted.
  const written: Token[] = [];
  return {
    tokens: written,
    goOn: async (slot, signal) => {
      const { metadata } = await slot.completion.generateCompletionWithMeta([...prompt.tokens, ...written], {
        ...samplingOf(request, written.length),
        signal,
        maxTokens: maxTokens - written.length,
        repeatPenalty: false,
        disableContextShift: true,
        contextShiftSize: 1,
        customStopTriggers: [...prompt.stops, ...(request.stop ?? [])],
        onToken: (tokens) => {
          show(visible.push(model.detokenize(tokens, false, written)));
          written.push(...tokens);
        },
      });
      show(visible.end());
      // Text that is held back is never shown when the answer ends there.
      if (metadata.stopReason === 'maxTokens') return { finishReason: 'length', completionTokens: maxTokens };
      return { finishReason: 'stop', completionTokens: written.length };
    },
  };
}

/** An answer that was interrupted goes on with another seed: with the same, it would choose as at its beginning. */
function samplingOf({ temperature = 0, topP, seed }: ChatRequest, written: number) {
  return {
    temperature,
    ...(topP === undefined ? {} : { topP }),
    ...(seed === undefined ? {} : { seed: (seed + written) % 2 ** 32 }),
  };
}
