import { z } from 'zod';
import { parseProviderClass } from '../models/provider-class.js';
import { parseSocketUrl } from '../redis/socket-url.js';
import { parseOptions } from './read-options.js';

/** Bounds of many settings, in seconds and bytes. */
export const hour = 3600;
export const day = 24 * hour;
export const gigabyte = 1024 ** 3;

/** The form of a setting in the environment, and its description. */
export interface SettingNote {
  readonly kind: 'text' | 'integer' | 'number' | 'boolean' | 'list';
  readonly description: string;
  /** Completes "allowed: …" in messages and in the table of settings. */
  readonly allowed: string;
  /** Values of secret settings are never shown. */
  readonly secret?: true;
  /** Another environment variable, over which `QUIRE_<SECTION>_<KEY>` takes precedence. */
  readonly alias?: string;
}

/** The notes of all settings. A schema without a note is a section. */
export const settingNotes = z.registry<SettingNote>();

type Extra = Pick<SettingNote, 'secret' | 'alias'>;

export function flag(value: boolean, description: string, extra: Extra = {}) {
  const schema = z.boolean().default(value);
  return schema.register(settingNotes, { kind: 'boolean', description, allowed: 'true or false', ...extra });
}

interface Bounds {
  readonly min: number;
  readonly max: number;
}

export function whole(value: number, { min, max }: Bounds, description: string, extra: Extra = {}) {
  const schema = z.int().min(min).max(max).default(value);
  const allowed = `a whole number from ${String(min)} to ${String(max)}`;
  return schema.register(settingNotes, { kind: 'integer', description, allowed, ...extra });
}

export function share(
  value: number,
  description: string,
  { min = 0, max = 1, ...extra }: Partial<Bounds> & Extra = {},
) {
  const schema = z.number().min(min).max(max).default(value);
  const allowed = `a number from ${String(min)} to ${String(max)}`;
  return schema.register(settingNotes, { kind: 'number', description, allowed, ...extra });
}

/** A share, or `auto`, which is the default. */
export function shareOrAuto(description: string) {
  const schema = z.union([z.literal('auto'), z.number().min(0).max(1)]).default('auto');
  const allowed = '"auto" or a number from 0 to 1';
  return schema.register(settingNotes, { kind: 'number', description, allowed });
}

export function choice<const Values extends readonly string[]>(
  values: Values,
  value: NoInfer<Values[number]>,
  description: string,
  extra: Extra = {},
) {
  const allowed = values.map((name) => JSON.stringify(name)).join(' or ');
  // @NOTE the enum's output type is the union of `values`, which zod cannot see through the generic
  const schema = z.enum(values).default(value as never);
  return schema.register(settingNotes, { kind: 'text', description, allowed, ...extra });
}

export interface Pattern {
  readonly accepts: (value: string) => boolean;
  readonly allowed: string;
}

export function text(value: string, { accepts, allowed }: Pattern, description: string, extra: Extra = {}) {
  const schema = z.string().refine(accepts).default(value);
  return schema.register(settingNotes, { kind: 'text', description, allowed, ...extra });
}

function urlWith(protocols: readonly string[]): (value: string) => boolean {
  return (value) => URL.canParse(value) && protocols.includes(new URL(value).protocol);
}
const isHttpUrl = urlWith(['http:', 'https:']);
const isHostUrl = urlWith(['redis:', 'rediss:']);
export const isRedisUrl = (value: string): boolean => isHostUrl(value) || parseSocketUrl(value) !== null;

export const host = {
  accepts: (value: string) => /^[A-Za-z0-9._:-]{1,253}$/.test(value),
  allowed: 'a host name or an IP address, without brackets or port',
};
export const httpUrl = { accepts: isHttpUrl, allowed: 'an http:// or https:// address' };
const hasLogin = (url: URL): boolean => url.username !== '' || url.password !== '';
/** `fetch` sends nothing to an address with a login. */
export const providerUrl = {
  accepts: (value: string) => isHttpUrl(value) && !hasLogin(new URL(value)),
  allowed: 'an http:// or https:// address without a login',
};
export const modelName = {
  accepts: (value: string) => /^\S{1,200}$/.test(value),
  allowed: 'the name of a model, 1 to 200 characters without spaces',
};
export const providerClass = {
  accepts: (value: string) => parseProviderClass(value) !== null,
  allowed: 'an installed package and a class of it, such as "@langchain/openai:AzureOpenAIEmbeddings"',
};
export const constructorOptions = {
  accepts: (value: string) => parseOptions(value) !== null,
  allowed: 'a JSON object, in which "env:NAME" is the value of the environment variable NAME',
};
export function orEmpty({ accepts, allowed }: Pattern): Pattern {
  return { accepts: (value) => value === '' || accepts(value), allowed: `${allowed}, or empty` };
}

export const origins = z
  .array(z.string().refine((value) => isHttpUrl(value) && new URL(value).origin === value))
  .default([])
  .register(settingNotes, {
    kind: 'list',
    description: 'Origins of web pages that may call the API; in dev mode loopback origins always may.',
    allowed: 'a list of origins such as "https://app.example.com" (in the environment: separated by commas)',
  });

/** Addresses of processes of ours, without credentials, queries or fragments. */
export function addresses(description: string) {
  const isPlain = (value: string) => {
    const url = new URL(value);
    return !hasLogin(url) && url.search === '' && url.hash === '';
  };
  return z
    .array(z.string().refine((value) => isHttpUrl(value) && isPlain(value)))
    .max(64)
    .default([])
    .register(settingNotes, {
      kind: 'list',
      description,
      allowed: 'a list of http:// or https:// addresses (in the environment: separated by commas)',
    });
}
