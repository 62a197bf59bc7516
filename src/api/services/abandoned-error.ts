/** Nobody takes an answer any more: the client left, or was cut off because it took too little. */
export class AbandonedError extends Error {
  override readonly name = 'AbandonedError';
  readonly code: 'client_closed' | 'stalled';

  constructor(code: AbandonedError['code'], options: { cause?: unknown } = {}) {
    super(code === 'stalled' ? 'the client took too little of the answer' : 'the client is gone', options);
    this.code = code;
  }
}
