import type { Place } from '../../adapters/descriptor.js';
import { BadReplyError } from '../../provider-http/bad-reply-error.js';
import { placeOf, type ModelInUse } from './models-in-use.js';

/**
 * Says why a model gave no answer and which setting to change. It is shown to everybody, and so it is made of statuses and
 * codes alone: providers quote keys and texts in their messages.
 */
export function explainFailure(error: unknown, used: ModelInUse): string {
  const place = placeOf(used);
  if (place?.at !== 'provider') return 'it gave no usable answer: see the log';
  const { model, address } = place.setBy;
  const status = statusIn(error);
  if (status !== null) return `it answered ${String(status)}: ${adviceFor(status, place, used)}`;
  const chain = chainOf(error);
  if (chain.some((each) => each instanceof BadReplyError))
    return `it answered something else than a ${used.role} does: ${address} may be that of another kind of server`;
  if (chain.some(({ name, message }) => name === 'TimeoutError' || message === 'the provider took too long'))
    return `no answer in time: see whether the server is busy, or loads the model, or ${address} is wrong`;
  const code = chain.map(codeOf).find((each) => each !== null);
  if (code !== undefined) return `nothing answers there (${code}): start the server, or change ${address}`;
  return `it gave no usable answer: see the log, and ${model} and ${address}`;
}

type Provider = Extract<Place, { readonly at: 'provider' }>;

function adviceFor(status: number, { setBy, isVersioned }: Provider, used: ModelInUse): string {
  const { role, address, model } = used;
  if (status === 401 || status === 403) return `the key is missing or wrong (${setBy.key})`;
  if (status === 404 || status === 405) {
    const lacksVersion = isVersioned && address !== null && !/\/v\d\w*$/.test(address);
    return lacksVersion
      ? `${setBy.address} probably lacks /v1 (${address}/v1)`
      : `${setBy.model} (${String(model)}) or ${setBy.address} is unknown there`;
  }
  if (status === 429) return 'too many requests, or nothing is left of its quota; it is tried again';
  if (status >= 500) return 'the server has trouble of its own; it is tried again';
  return `it refuses the request: see ${setBy.model}${role === 'embedder' ? ' and embedding.dimensions' : ''}`;
}

/** The clients keep no message of a provider, but its status. */
const STATUS = /^(?:the provider answered|refused with status) (\d{3})\b/;

function statusIn(error: unknown): number | null {
  for (const { message } of chainOf(error)) {
    const [, status] = STATUS.exec(String(message)) ?? [];
    if (status !== undefined) return Number(status);
  }
  return null;
}

/** Codes of the system, such as ECONNREFUSED, and of fetch; clients keep them as the message of a cause. */
function codeOf({ message }: ErrorLike): string | null {
  return typeof message === 'string' &&
    /^(?:E[A-Z_]{3,20}|UND_ERR_[A-Z_]{1,40}|[A-Z]+_[A-Z_]*CERT[A-Z_]*|DEPTH_[A-Z_]+)$/.test(message)
    ? message
    : null;
}

/**
 * The fields of an error that are read. A DOMException, as of a signal whose time is over, is an `Error` only in its own
 * realm.
 */
interface ErrorLike {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
}

const MAX_DEPTH = 8;

/** An error, its cause, the cause of that, and so on. */
function chainOf(error: unknown): ErrorLike[] {
  const chain: ErrorLike[] = [];
  for (let each = error; isObject(each) && chain.length < MAX_DEPTH; each = each.cause) chain.push(each);
  return chain;
}

const isObject = (value: unknown): value is ErrorLike => typeof value === 'object' && value !== null;
