import { createHash } from 'node:crypto';
import { basename, resolve } from 'node:path';
import { isModelName, MODEL_NAME_RULE } from '../../../shared/local-models/model-files.js';
import { isLoopbackHost } from '../../../shared/settings/addresses.js';
import type { Environment } from '../../executables.js';
import { UserError } from '../../user-messages.js';

export interface RemoteSource {
  readonly url: URL;
  /** The access token of Hugging Face, for its own host alone. */
  readonly token: string | null;
  /** True for Hugging Face or its mirror, where an `etag` of 64 hexadecimal digits is the SHA-256 of the file. */
  readonly isHub: boolean;
  /**
   * The key that stays the same when the same file is asked for again. Signatures in a query are not part of it, nor can it
   * be read.
   */
  readonly key: string;
}

export type ModelSource = { readonly name: string } & (
  { readonly path: string } | { readonly remote: RemoteSource }
);

const HUGGING_FACE = 'https://huggingface.co';
const PART_OF_SEVERAL = /-\d{5}-of-\d{5}\.gguf$/;
/** The names of a user or an organisation, and of a repository. */
const REPOSITORY = /^[\w.-]{1,96}\/[\w.-]{1,96}$/;

/**
 * Reads the argument of `quire models pull`: `hf:user/repo:file`, an address, or a path.
 * @throws UserError
 */
export function parseSource(text: string, name: string | undefined, env: Environment): ModelSource {
  const hub = hubOf(env);
  if (text.startsWith('hf:')) return remoteSource(hubUrl(text, hub.url), name, hub);
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(text)) return remoteSource(parseUrl(text), name, hub);
  return { name: checkName(name ?? basename(text)), path: resolve(text) };
}

interface Hub {
  readonly url: URL;
  readonly token: string | null;
}

/** The two variables that all tools of Hugging Face share. */
function hubOf({ HF_ENDPOINT: endpoint = '', HF_TOKEN: token = '' }: Environment): Hub {
  // A header refuses other characters with an error that quotes them.
  if (!/^[\x21-\x7e]*$/.test(token)) throw new UserError('HF_TOKEN has characters that no token has.');
  const url = parseUrl(endpoint === '' ? HUGGING_FACE : endpoint);
  return { url, token: token === '' ? null : token };
}

function hubUrl(text: string, hub: URL): URL {
  const [, repository = '', file = '', revision = 'main'] =
    /^hf:([^:#/]+\/[^:#/]+)[:/]([^#]+)(?:#([\w.-]+))?$/.exec(text) ?? [];
  const isFile = file.endsWith('.gguf') && file.split('/').every((part) => /^[^.]/.test(part));
  if (!REPOSITORY.test(repository) || !isFile)
    throw new UserError(`${text}: allowed: hf:user/repo:file.gguf, with #revision behind it if needed`);
  const path = file.split('/').map(encodeURIComponent).join('/');
  return new URL(`${hub.href.replace(/\/$/, '')}/${repository}/resolve/${revision}/${path}`);
}

/** @throws UserError that does not show passwords and signatures */
function parseUrl(text: string): URL {
  if (!URL.canParse(text)) throw new UserError('The address cannot be read.');
  const url = new URL(text);
  checkAddress(url);
  return url;
}

/** @throws UserError for an address that nothing may be downloaded from */
export function checkAddress(url: URL): void {
  if (url.username !== '' || url.password !== '')
    throw new UserError('An address with a name or password in it is not taken.');
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname))) return;
  throw new UserError(
    `${url.origin === 'null' ? url.protocol : url.origin}: allowed: https, and http to this machine`,
  );
}

function remoteSource(asked: URL, name: string | undefined, hub: Hub): ModelSource {
  const url = new URL(asked);
  const isHub = url.origin === hub.url.origin;
  // The address of the page about a file, which browsers show.
  if (isHub) url.pathname = url.pathname.replace(/^(\/[^/]+\/[^/]+)\/blob\//, '$1/resolve/');
  const key = createHash('sha256').update(`${url.origin}${url.pathname}`).digest('hex');
  const remote = { url, token: isHub ? hub.token : null, isHub, key };
  return { name: checkName(name ?? lastPart(url)), remote };
}

function lastPart(url: URL): string {
  const part = url.pathname.slice(url.pathname.lastIndexOf('/') + 1);
  try {
    return decodeURIComponent(part);
  } catch {
    // No file name can be made of it, which is the error that is then reported.
    return part;
  }
}

/** @throws UserError */
function checkName(name: string): string {
  if (PART_OF_SEVERAL.test(name))
    throw new UserError(
      `${name} is one of several parts, which are not taken. Merge them with llama.cpp's "llama-gguf-split --merge", and pull the path of the result.`,
    );
  if (isModelName(name)) return name;
  throw new UserError(`${JSON.stringify(name)}: allowed: ${MODEL_NAME_RULE}. --as gives another name.`);
}
