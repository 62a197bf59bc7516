const MESSAGES = {
  client_closed: 'the client is gone',
  stalled: 'the client took too little of the answer',
  token_ended: 'the token of the client has ended',
} as const;

/**
 * The response is not wanted to its end: the client has left, was disconnected because it read too slowly, or may no longer
 * read it, because its token has ended.
 */
export class AbandonedError extends Error {
  override readonly name = 'AbandonedError';
  readonly code: keyof typeof MESSAGES;

  constructor(code: AbandonedError['code'], options: { cause?: unknown } = {}) {
    super(MESSAGES[code], options);
    this.code = code;
  }
}
