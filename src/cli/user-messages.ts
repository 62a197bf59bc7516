/** A problem that the user can mend: the command line shows the message alone and exits with 1. */
export class UserError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'UserError';
  }
}

/** Tells the user what the supervisor does, apart from the logs on stdout. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
