import type { Problem } from './rule.js';

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
