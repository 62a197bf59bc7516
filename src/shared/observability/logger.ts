import { types } from 'node:util';
import { pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';
import { systemErrorCode } from '../system-error-code.js';
import type { Settings } from '../settings/schema.js';
import { createLogOutput } from './log-output.js';

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
