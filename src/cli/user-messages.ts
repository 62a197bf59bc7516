/** A problem that the user can solve. The command line prints only its message and exits with 1. */
export class UserError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'UserError';
  }
}

/** Prints a message for the user on stderr; stdout is for logs and results. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
