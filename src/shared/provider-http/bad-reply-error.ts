/** The provider's reply is not as it should be. The message quotes nothing of it. */
export class BadReplyError extends Error {
  constructor(problem: string) {
    super(`the provider's reply ${problem}`);
    this.name = 'BadReplyError';
  }
}
