import { types } from 'node:util';
import { pino, stdTimeFunctions, symbols, type DestinationStream, type Logger } from 'pino';
import type { Settings } from '../settings/schema.js';
import { systemErrorCode } from '../system-error-code.js';

export type { Logger } from 'pino';

const secretNames = [
  'authorization',
  'cookie',
  '["set-cookie"]',
  'token',
  'password',
  'password_token',
  'secret',
  'uri',
];
const places = ['', '*.', '*.*.'];
const secretPaths = places.flatMap((place) =>
  secretNames.map((name) => (name.startsWith('[') ? `${place.slice(0, -1)}${name}` : `${place}${name}`)),
);

interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly code?: string;
  readonly cause?: LoggedError;
}

/** Logs only these fields, since errors of client libraries contain whole commands and requests, and with them content. */
function describeError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error || types.isNativeError(error)))
    return { type: typeof error, message: 'not an error object' };
  const { name, message, stack, cause } = error;
  const code = systemErrorCode(error);
  const reason = cause !== undefined && depth < 3 ? { cause: describeError(cause, depth + 1) } : {};
  return { type: name, message, stack, ...(code === null ? {} : { code }), ...reason };
}

export interface LoggerOptions {
  readonly level: Settings['log']['level'];
  /** The process of Quire that logs, such as `api`. */
  readonly process: string;
  readonly destination?: DestinationStream;
  /** Gives fields that every line gets, such as the ids of a trace. */
  readonly addFields?: (() => object) | undefined;
  /** Calls its argument when the process ends. Only with it, lines may wait a little for more. */
  readonly onExit?: (flush: () => void) => void;
}

/**
 * Makes a logger of JSON lines on stdout. Events have fields, and errors go into
 * `err`; content, queries and tokens are never logged.
 */
export function createLogger({
  level,
  process: name,
  destination,
  onExit,
  addFields,
}: LoggerOptions): Logger {
  return pino(
    {
      level,
      ...(addFields ? { mixin: addFields } : {}),
      base: { process: name, pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (error: unknown) => describeError(error) },
      redact: { paths: secretPaths, censor: '(not shown)' },
    },
    destination ?? standardOutput(onExit),
  );
}

function standardOutput(onExit: LoggerOptions['onExit']): DestinationStream {
  const sink = pino.destination({ fd: 1, sync: true });
  return onExit ? createLogOutput({ sink, onExit }) : sink;
}

/** Makes a logger of the same lines for fields that cannot hold a secret: looking for one takes most of the time of a line. */
export const withoutRedaction = (logger: Logger): Logger => logger.child({}, { redact: [] });

/** Lines below a warning wait at most this long for more, and only while lines come faster than that. */
const WAIT_MILLISECONDS = 25;
/** Lines of this size together do not wait. */
const MAX_WAITING_CHARACTERS = 16 * 1024;
/** The number that pino has for the level `warn`. */
const WARNING = 40;

interface LogOutputOptions {
  readonly sink: Pick<DestinationStream, 'write'>;
  /** Calls its argument when the process ends. */
  readonly onExit: (flush: () => void) => void;
}

/**
 * Gathers log lines, because each write is a call of the system on the thread that answers requests. Warnings and errors
 * are written at once, after everything before them. A process that is killed loses the lines of its last milliseconds.
 */
export function createLogOutput({ sink, onExit }: LogOutputOptions): DestinationStream {
  let waiting = '';
  let timer: NodeJS.Timeout | null = null;
  let writtenAt = -Infinity;
  const flush = () => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    writtenAt = performance.now();
    const lines = waiting;
    waiting = '';
    if (lines !== '') sink.write(lines);
  };
  onExit(flush);
  const output = {
    // Pino then says before each line which level it has.
    [symbols.needsMetadataGsym]: true,
    lastLevel: WARNING,
    write: (line: string) => {
      waiting += line;
      const isUrgent = output.lastLevel >= WARNING || waiting.length >= MAX_WAITING_CHARACTERS;
      if (isUrgent || (timer === null && performance.now() - writtenAt >= WAIT_MILLISECONDS)) flush();
      else timer ??= setTimeout(flush, WAIT_MILLISECONDS);
    },
  };
  return output;
}
