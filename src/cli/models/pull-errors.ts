import { join } from 'node:path';
import { NoEngineError } from '../../shared/local-models/import-engine.js';
import { systemErrorCode } from '../../shared/system-error-code.js';
import type { Environment } from '../executables.js';
import { UserError } from '../user-messages.js';
import type { ModelSource } from './pulling/model-source.js';
import { TransferError } from './pulling/open-remote.js';

interface Circumstances {
  /** Absent where nothing is pulled. */
  readonly source?: ModelSource;
  readonly directory: string;
  readonly env: Environment;
  readonly signal: AbortSignal;
}

/** Turns an error into advice for the user; others stay as they are. */
export function asUserError(error: unknown, circumstances: Circumstances): unknown {
  const { directory, env, signal } = circumstances;
  const cause = error;
  if (signal.aborted) return new UserError('Stopped. The same command goes on from here.', { cause });
  if (error instanceof NoEngineError) return new UserError(`${error.message}.`, { cause });
  if (error instanceof TransferError)
    return new UserError(
      `${error.message}. The same command goes on from here.${proxyAdvice(env)}${otherWay(circumstances)}`,
      { cause },
    );
  const code = systemErrorCode(error);
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new UserError(`${directory} has no room left.`, { cause });
  if (code !== null && ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ELOOP'].includes(code))
    return new UserError(`${directory} cannot be written to, or the file not be read (${code}).`, { cause });
  return error;
}

const PROXIES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'];

/** Node.js itself knows proxies from 24 and 22.21 on, when it is told to. */
function proxyAdvice(env: Environment): string {
  const { NODE_USE_ENV_PROXY: uses = '' } = env;
  if (uses !== '' || PROXIES.every((name) => env[name] === undefined || env[name] === '')) return '';
  return ' The proxy of the environment is used with NODE_USE_ENV_PROXY=1, by Node.js 24 and 22.21 or newer.';
}

/** Says how the file gets there without this network. Only addresses of Hugging Face are shown: others may hold signatures. */
function otherWay({ source, directory }: Circumstances): string {
  if (!source) return '';
  const path = join(directory, source.name);
  if (!('remote' in source) || !source.remote.isHub) return `\nOr put the file at ${path} by hand.`;
  const { origin, pathname } = source.remote.url;
  return [
    `\nWithout a network here, download ${origin}${pathname} elsewhere and put it at ${path}`,
    'or set HF_ENDPOINT to a mirror of Hugging Face.',
  ].join(', ');
}
