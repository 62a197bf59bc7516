/** The fault of a request, in the words of OpenAI's API, so that its clients tell the cases apart. */
export type ModelErrorCode =
  | 'invalid_request'
  | 'model_not_found'
  | 'model_changed'
  | 'invalid_model'
  | 'wrong_kind'
  | 'context_length_exceeded'
  | 'state_not_found'
  | 'too_large_for_memory'
  | 'overloaded';

export interface ModelErrorOptions {
  /** The field of the request that is at fault. */
  readonly field?: string;
  /** The number of tokens of the prompt, or a lower bound, where it is too high. */
  readonly tokens?: number;
  readonly cause?: unknown;
}

/** An error that is answered to the client. Its message never quotes a text. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly code: ModelErrorCode;
  readonly field: string | null;
  readonly tokens: number | null;

  constructor(code: ModelErrorCode, message: string, { field, tokens, cause }: ModelErrorOptions = {}) {
    super(message, { cause });
    this.code = code;
    this.field = field ?? null;
    this.tokens = tokens ?? null;
  }
}
