/** The needs of a process: `redis` is the address of one, `secret` is a JWT secret, which dev mode makes itself. */
export type Need = 'redis' | 'secret';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A wrong setting: its name, its value as it may be shown, and the allowed values. */
export interface Problem {
  readonly setting: string;
  readonly value: string | null;
  readonly allowed: string;
}

interface RuleContext {
  readonly needs: readonly Need[];
  readonly env: Environment;
}

/** A condition between several settings, or between settings and the environment. `Read` are the settings it may look at. */
export interface Rule<Read> {
  /** The settings it looks at. The rule is skipped when one of them is wrong by itself. */
  readonly names: readonly string[];
  readonly broken: (settings: Read, context: RuleContext) => boolean;
  readonly problem: (settings: Read, context: RuleContext) => Problem | readonly Problem[];
}

/** Names everything that is wrong with the settings. */
export class SettingsError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const lines = problems.map(({ setting, value, allowed }) =>
      value === null ? `- ${setting}: ${allowed}` : `- ${setting} = ${value}: ${allowed}`,
    );
    super(`wrong settings:\n${lines.join('\n')}`);
    this.name = 'SettingsError';
    this.problems = problems;
  }
}
