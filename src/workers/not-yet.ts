/** Thrown by a job that has to wait for others. It is run again after a while, and takes no job's place meanwhile. */
export class NotYetError extends Error {
  override readonly name = 'NotYetError';

  constructor(readonly milliseconds: number) {
    super(`not for another ${String(milliseconds)} ms`);
  }
}
