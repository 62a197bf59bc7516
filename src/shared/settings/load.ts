import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import { at } from '../at.js';
import { systemErrorCode } from '../system-error-code.js';
import { readOptions } from './read-options.js';
import { SettingsError, type Environment, type Need, type Problem } from './rule.js';
import {
  settingsRules,
  fileSettingsSchema,
  leaves,
  type FileSettings,
  type Leaf,
  type Settings,
} from './schema.js';

export type { Environment, Need, Problem } from './rule.js';
export type { Settings } from './schema.js';

/** Variables with our prefix that are not settings of `quire.toml`. */
const otherVariables = ['QUIRE_CONFIG', 'QUIRE_DATA_DIR', 'QUIRE_NO_INSTALL', 'QUIRE_SHARED', 'QUIRE_TOKEN'];
const testPrefix = 'QUIRE_TEST_';

const tableSchema = z.record(z.string(), z.unknown());
type Table = z.infer<typeof tableSchema>;

interface Raw {
  readonly source: string;
  readonly value: unknown;
}

/** Reads a variable. An empty one counts as absent, since compose files and shells pass variables like that. */
function variable(env: Environment, name: string): string | null {
  const value = env[name];
  return value === undefined || value === '' ? null : value;
}

const booleans = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

function fromText(kind: Leaf['note']['kind'], value: string): unknown {
  switch (kind) {
    case 'text':
      return value;
    case 'integer':
      return /^-?\d+$/.test(value.trim()) ? Number(value) : value;
    case 'number':
      return /^-?\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : value;
    case 'boolean':
      return booleans.get(value.trim().toLowerCase()) ?? value;
    case 'list':
      return value
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '');
  }
}

function tableOf(value: unknown): Table | null {
  const parsed = tableSchema.safeParse(value);
  return parsed.success ? parsed.data : null;
}

function rawValue(leaf: Leaf, env: Environment, file: Table): Raw | null {
  for (const name of leaf.variables) {
    const value = variable(env, name);
    if (value !== null) return { source: name, value: fromText(leaf.note.kind, value) };
  }
  const table = leaf.section === null ? file : tableOf(file[leaf.section]);
  const value = table?.[leaf.name.replace(/^.*\./, '')];
  return value === undefined ? null : { source: leaf.name, value };
}

/** An address with a login, also as one of several. */
const LOGIN = /\/\/[^/"]*@/;

function show(leaf: Leaf, value: unknown): string {
  const shown = typeof value === 'number' ? String(value) : JSON.stringify(value);
  if (leaf.note.secret || LOGIN.test(shown)) return '(not shown)';
  return shown.length > 200 ? `${shown.slice(0, 200)}…` : shown;
}

function parseToml(toml: string): { file: Table; problems: Problem[] } {
  try {
    return { file: tableSchema.parse(parse(toml)), problems: [] };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const place = `line ${String(error.line)}, column ${String(error.column)}`;
    // Only the first line is told, because the rest quotes the file, secrets included.
    const reason = at(error.message.split('\n'), 0);
    return {
      file: {},
      problems: [{ setting: 'settings file', value: null, allowed: `${reason} (${place})` }],
    };
  }
}

function unknownKeys(file: Table): Problem[] {
  const known = (section: string | null) => leaves.filter((leaf) => leaf.section === section);
  const sections = new Set(leaves.map((leaf) => leaf.section));
  const check = (table: Table, section: string | null): Problem[] => {
    const names = known(section).map((leaf) => leaf.name.replace(/^.*\./, ''));
    const inner =
      section === null ? [...sections].filter((name) => name !== null).map((name) => `[${name}]`) : [];
    return Object.keys(table)
      .filter((key) => !names.includes(key) && !(section === null && sections.has(key)))
      .map((key) => ({
        setting: section === null ? key : `${section}.${key}`,
        value: null,
        allowed: `no such setting; allowed here: ${[...names, ...inner].join(', ')}`,
      }));
  };
  const nested = [...sections].flatMap((section) => {
    if (section === null || file[section] === undefined) return [];
    const table = tableOf(file[section]);
    if (table) return check(table, section);
    return [{ setting: section, value: null, allowed: `must be a section, written [${section}]` }];
  });
  return [...check(file, null), ...nested];
}

function unknownVariables(env: Environment): Problem[] {
  const known = new Set([...otherVariables, ...leaves.flatMap((leaf) => leaf.variables)]);
  return Object.keys(env)
    .filter((name) => name.startsWith('QUIRE_') && !name.startsWith(testPrefix) && !known.has(name))
    .map((name) => ({
      setting: name,
      value: null,
      allowed: 'no such setting; variables are QUIRE_<SECTION>_<KEY> as in quire.toml',
    }));
}

/** Parses each setting separately, so that one wrong value does not hide another. A wrong one keeps its default. */
function parseLeaves(
  env: Environment,
  file: Table,
): { values: FileSettings; problems: Problem[]; bad: Set<string> } {
  const values: Record<string, unknown> = {};
  const sections: Record<string, Record<string, unknown>> = {};
  const problems: Problem[] = [];
  const bad = new Set<string>();
  for (const leaf of leaves) {
    const raw = rawValue(leaf, env, file);
    if (!raw) continue;
    const parsed = leaf.schema.safeParse(raw.value);
    if (!parsed.success) {
      problems.push({
        setting: raw.source,
        value: show(leaf, raw.value),
        allowed: `allowed: ${leaf.note.allowed}`,
      });
      bad.add(leaf.name);
      continue;
    }
    const [first, second] = leaf.path;
    if (second === undefined) values[first] = parsed.data;
    else (sections[first] ??= {})[second] = parsed.data;
  }
  return { values: fileSettingsSchema.parse({ ...values, ...sections }), problems, bad };
}

function shortSecrets(env: Environment): Problem[] {
  const keys = ['JWT_SECRET_KEY', 'JWT_SECRET_KEY_PREVIOUS']
    .filter((name) => Buffer.byteLength(variable(env, name) ?? ' '.repeat(32)) < 32)
    .map((name) => ({ setting: name, value: '(not shown)', allowed: 'allowed: at least 32 bytes' }));
  const password = variable(env, 'LOCAL_URI_PASSWORD');
  if (password === null || [...password].length >= 16) return keys;
  const allowed = 'allowed: at least 16 characters, or empty';
  return [...keys, { setting: 'LOCAL_URI_PASSWORD', value: '(not shown)', allowed }];
}

export interface SettingsSource {
  readonly env: Environment;
  /** Text of the settings file; null when there is none. */
  readonly toml: string | null;
  readonly needs?: readonly Need[];
}

/**
 * Reads every setting: the environment takes precedence over the file, and the
 * file over defaults. Reports all problems at once.
 */
export function readSettings({
  env,
  toml,
  needs = [],
}: SettingsSource): { settings: Settings } | { problems: readonly Problem[] } {
  const { file, problems: unreadable } = parseToml(toml ?? '');
  const { values, problems: wrong, bad } = parseLeaves(env, file);
  const settings: Settings = {
    ...values,
    dataDirectory: resolve(variable(env, 'QUIRE_DATA_DIR') ?? '.quire'),
    jwtSecretKey: variable(env, 'JWT_SECRET_KEY'),
    jwtSecretKeyPrevious: variable(env, 'JWT_SECRET_KEY_PREVIOUS'),
    localUriPassword: variable(env, 'LOCAL_URI_PASSWORD'),
    openaiApiKey: variable(env, 'OPENAI_API_KEY'),
    rerankerApiKey: variable(env, 'RERANKER_API_KEY'),
    constructorOptions: {
      embedding: readOptions('embedding.options', values.embedding.options, env).options,
      completion: readOptions('completion.options', values.completion.options, env).options,
    },
  };
  const context = { needs, env };
  const broken = settingsRules
    // Nothing is known about the values that an unreadable file meant to set.
    .filter((rule) => unreadable.length === 0 && !rule.names.some((name) => bad.has(name)))
    .filter((rule) => rule.broken(settings, context))
    .flatMap((rule) => rule.problem(settings, context));
  const problems = [
    ...unreadable,
    ...unknownKeys(file),
    ...unknownVariables(env),
    ...wrong,
    ...shortSecrets(env),
    ...broken,
  ];
  return problems.length > 0 ? { problems } : { settings };
}

function readToml(env: Environment): string | null {
  const named = variable(env, 'QUIRE_CONFIG');
  try {
    return readFileSync(named ?? 'quire.toml', 'utf8');
  } catch (error) {
    const code = systemErrorCode(error) ?? 'unknown error';
    if (named === null && code === 'ENOENT') return null;
    throw new SettingsError([
      {
        setting: named === null ? 'quire.toml' : 'QUIRE_CONFIG',
        value: named === null ? null : JSON.stringify(named),
        allowed: `must be the path of a readable settings file (${code})`,
      },
    ]);
  }
}

/**
 * Loads the settings of this process from its environment and the file that
 * `QUIRE_CONFIG` names, or else `./quire.toml` if it exists.
 * @throws SettingsError that names every problem
 */
export function loadSettings(env: Environment, needs: readonly Need[] = []): Settings {
  const result = readSettings({ env, toml: readToml(env), needs });
  if ('problems' in result) throw new SettingsError(result.problems);
  return result.settings;
}
