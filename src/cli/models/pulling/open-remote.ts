import { isLoopbackHost } from '../../../shared/settings/addresses.js';
import { systemErrorCode } from '../../../shared/system-error-code.js';
import { UserError } from '../../user-messages.js';
import type { Announced } from './drafts.js';
import { checkAddress, type RemoteSource } from './model-source.js';

export interface Opened {
  readonly announced: Announced;
  /** The place in the file where the body begins: a server may ignore the requested place. */
  readonly offset: number;
  readonly contentType: string;
  readonly body: AsyncIterable<Uint8Array>;
}

const MAX_REDIRECTS = 10;

/**
 * Asks for a file from `offset` on. Redirects are followed to any host, as Hugging Face sends them to where the bytes are; the
 * token stays behind.
 * @returns null when the file of the server is shorter than that
 * @throws UserError, TransferError
 */
export async function openRemote(
  remote: RemoteSource,
  offset: number,
  signal: AbortSignal,
): Promise<Opened | null> {
  let { url } = remote;
  let told: Pick<Announced, 'sha256'> & { size: number | null } = { sha256: null, size: null };
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const response = await request(url, remote, { offset, signal });
    // Statements of another host about the file do not count.
    if (url.origin === remote.url.origin) told = toldBy(response.headers, remote, told);
    const location = response.headers.get('location');
    if (response.status < 300 || response.status > 399 || location === null)
      return openedFrom(response, { url, remote, offset, told });
    await response.body?.cancel();
    url = redirected(url, location);
  }
  throw new UserError(`${remote.url.host} sends from one address to the next without an end.`);
}

/** Returns the address that a redirect leads to. Services on this machine are not for other hosts to ask. @throws UserError */
export function redirected(from: URL, location: string): URL {
  if (!URL.canParse(location, from.href))
    throw new UserError(`${from.host} sends to an address that is none.`);
  const url = new URL(location, from.href);
  checkAddress(url);
  if (isLoopbackHost(url.hostname) && !isLoopbackHost(from.hostname))
    throw new UserError(`${from.host} sends to an address of this machine.`);
  return url;
}

async function request(
  url: URL,
  { token, url: asked }: RemoteSource,
  { offset, signal }: { readonly offset: number; readonly signal: AbortSignal },
): Promise<Response> {
  const headers = {
    // Packed bytes could not be continued.
    'accept-encoding': 'identity',
    'user-agent': 'quire',
    ...(offset > 0 ? { range: `bytes=${String(offset)}-` } : {}),
    ...(token !== null && url.origin === asked.origin ? { authorization: `Bearer ${token}` } : {}),
  };
  try {
    return await fetch(url, { headers, signal, redirect: 'manual' });
  } catch (error) {
    signal.throwIfAborted();
    throw new TransferError(`${url.host} cannot be reached (${reasonOf(error)})`, { cause: error });
  }
}

/** `fetch` says "fetch failed", and why in the cause. */
function reasonOf(error: unknown): string {
  const cause = typeof error === 'object' && error !== null && 'cause' in error ? error.cause : undefined;
  return systemErrorCode(cause) ?? (cause instanceof Error ? cause.message : 'no answer');
}

const SHA256 = /^(?:W\/)?"?([0-9a-f]{64})"?$/i;

function toldBy(
  headers: Headers,
  { isHub }: RemoteSource,
  before: Pick<Announced, 'sha256'> & { size: number | null },
) {
  const linked = headers.get('x-linked-etag') ?? (isHub ? headers.get('etag') : null);
  const told = linked === null ? undefined : SHA256.exec(linked)?.[1];
  const sha256 = told?.toLowerCase() ?? before.sha256;
  return { sha256, size: toLength(headers.get('x-linked-size')) ?? before.size };
}

const toLength = (text: string | null): number | null =>
  text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;

interface Context {
  readonly url: URL;
  readonly remote: RemoteSource;
  readonly offset: number;
  readonly told: Pick<Announced, 'sha256'> & { size: number | null };
}

async function openedFrom(response: Response, context: Context): Promise<Opened | null> {
  const { status, headers, body } = response;
  const { remote } = context;
  if (status === 416) {
    await body?.cancel();
    return null;
  }
  try {
    if (status !== 200 && status !== 206) throw refusal(status, context);
    const { from, total } = sentRange(status, headers, context);
    if (body === null) throw new UserError(`${remote.url.host} sends an empty file.`);
    const { sha256 } = context.told;
    const version = sha256 ?? headers.get('etag') ?? headers.get('last-modified');
    const announced = { key: remote.key, version, size: total, sha256 };
    return { announced, offset: from, contentType: headers.get('content-type') ?? 'no content type', body };
  } catch (error) {
    // An answer that nobody reads would hold its connection.
    await body?.cancel();
    throw error;
  }
}

/** @throws UserError where the length is not told, or is not the length of the file */
function sentRange(status: number, headers: Headers, { remote, told }: Context) {
  const range = rangeOf(status, headers);
  if (range === null) throw new UserError(`${remote.url.host} does not say how large the file is.`);
  const isPacked = (headers.get('content-encoding') ?? 'identity') !== 'identity';
  if (isPacked || (told.size !== null && told.size !== range.total))
    throw new UserError(`${remote.url.host} sends something else than the file (another length, or packed).`);
  return range;
}

function rangeOf(status: number, headers: Headers): { from: number; total: number } | null {
  if (status === 200) {
    const total = toLength(headers.get('content-length'));
    return total === null ? null : { from: 0, total };
  }
  const [, from = '', total = ''] =
    /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15})$/.exec(headers.get('content-range') ?? '') ?? [];
  return total === '' ? null : { from: Number(from), total: Number(total) };
}

function refusal(status: number, { url, remote }: Context): Error {
  if (status === 401 || status === 403) {
    const advice =
      remote.token === null
        ? 'If it is a gated model of Hugging Face, set HF_TOKEN to a token that may read it.'
        : 'The token of HF_TOKEN may not read it: accept the terms of the model on its page, or take another token.';
    return new UserError(`${url.host} does not give the file out (${String(status)}). ${advice}`);
  }
  if (status === 404 || status === 410)
    return new UserError(`${url.host} has no such file (${String(status)}).`);
  const answered = `${url.host} answered ${String(status)}`;
  return status === 408 || status === 429 || status >= 500
    ? new TransferError(answered)
    : new UserError(answered);
}

/** A download that did not come to its end, and may when it is tried again. */
export class TransferError extends Error {
  override readonly name = 'TransferError';
}
