/** The client no longer reads the response: it has left, or was disconnected because it read too slowly. */
export class AbandonedError extends Error {
  override readonly name = 'AbandonedError';
  readonly code: 'client_closed' | 'stalled';

  constructor(code: AbandonedError['code'], options: { cause?: unknown } = {}) {
    super(code === 'stalled' ? 'the client took too little of the answer' : 'the client is gone', options);
    this.code = code;
  }
}
