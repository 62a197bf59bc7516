/** Thrown by a job that has to wait for others. It is run again after a while, and takes no job's place meanwhile. */
export class NotYetError extends Error {
  override readonly name = 'NotYetError';

  /** @param waitsFor is shown to operators */
  constructor(
    readonly milliseconds: number,
    readonly waitsFor: string,
  ) {
    super(`not for another ${String(milliseconds)} ms`);
  }
}
