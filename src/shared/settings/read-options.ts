import { z } from 'zod';
import { jsonOrNull } from '../json-values.js';
import type { Environment, Problem } from './rule.js';

/** A value that is read from the environment, so that no key has to be in a file. */
const VARIABLE = /^env:(.*)$/s;
const VARIABLE_NAME = /^[A-Za-z_]\w*$/;
/** Secrets of our own are not for a provider. */
const OWN_VARIABLE = /^(?:QUIRE_|JWT_SECRET_KEY|LOCAL_URI_PASSWORD$|REDIS_URL$)/;

/**
 * Returns the options with each `"env:NAME"`, at any depth, replaced by the variable of that name, and the problems in
 * them.
 */
export function readOptions(setting: string, text: string, env: Environment) {
  const problems: Problem[] = [];
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value === 'string') return resolveText(value);
    const table = optionsSchema.safeParse(value);
    if (!table.success) return value;
    return Object.fromEntries(Object.entries(table.data).map(([key, inner]) => [key, resolve(inner)]));
  };
  const resolveText = (value: string): string => {
    const name = VARIABLE.exec(value)?.[1];
    if (name === undefined) return value;
    if (OWN_VARIABLE.test(name)) {
      problems.push({ setting, value: null, allowed: `env: names ${name}, which is not for providers` });
      return '';
    }
    const found = VARIABLE_NAME.test(name) ? env[name] : undefined;
    if (found !== undefined && found !== '') return found;
    // A malformed name may be a key that was written there by mistake.
    const shown = VARIABLE_NAME.test(name) ? `${name}, which the environment lacks` : 'a malformed name';
    problems.push({ setting, value: null, allowed: `env: names ${shown}` });
    return '';
  };
  const options = parseOptions(text) ?? {};
  for (const name of ['model', 'modelName'].filter((each) => each in options)) {
    const instead = setting.replace('.options', '.model');
    problems.push({ setting, value: null, allowed: `${name} does not belong here: set ${instead}` });
  }
  return { options: optionsSchema.parse(resolve(options)), problems };
}

/** Options for the constructor of a provider's class. */
export type ConstructorOptions = Readonly<Record<string, unknown>>;

const optionsSchema = z.record(z.string(), z.unknown());
/** Reads the JSON of `embedding.options` and `completion.options`. @returns null when it is no object */
export const parseOptions = (text: string): ConstructorOptions | null =>
  optionsSchema.safeParse(jsonOrNull(text)).data ?? null;
