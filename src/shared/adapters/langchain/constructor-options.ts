import { createHash } from 'node:crypto';
import { createBoundedFetch } from '../../provider-http/bounded-fetch.js';

type Options = Readonly<Record<string, unknown>>;

interface Defaults {
  readonly timeoutMilliseconds: number;
  readonly maxInputs?: number;
}

/**
 * Returns the options of constructors where the settings say nothing else. Their own retries are off, because they sleep as
 * long as they like and ignore an abort: the queue repeats failed work. @NOTE Other packages ignore options that they do
 * not know.
 */
export function withDefaults(packageName: string, options: Options, defaults: Defaults): Options {
  const general = { maxRetries: 0, maxConcurrency: Infinity };
  if (packageName !== '@langchain/openai') return { ...general, ...options };
  const { timeoutMilliseconds, maxInputs } = defaults;
  const { configuration } = options;
  return {
    ...general,
    // The client would close a request after ten minutes.
    timeout: timeoutMilliseconds,
    // It would send 512 texts in a request, and one where Azure is asked, with spaces for their line breaks.
    ...(maxInputs === undefined ? {} : { batchSize: maxInputs, stripNewLines: false }),
    // Without a named format, the client garbles the answers of servers that know no base64.
    ...(maxInputs === undefined ? {} : { encodingFormat: 'float' }),
    ...options,
    configuration: {
      // The client's log prints requests, and pieces of streams.
      logLevel: 'off',
      fetch: createBoundedFetch(maxInputs === undefined ? COMPLETION_REPLY : EMBEDDING_REPLY),
      ...(isObject(configuration) ? configuration : {}),
    },
  };
}

/**
 * The same bounds as of the direct client: vectors as numbers are large, and pieces of a line are joined again with each
 * that arrives.
 */
const EMBEDDING_REPLY = { bytes: 256 * 1024 ** 2, lineBytes: Infinity };
const COMPLETION_REPLY = { bytes: 256 * 1024 ** 2, lineBytes: 1024 ** 2 };

/** The option that limits the tokens of a completion; most packages follow LangChain's own name for it. */
export function lengthOption(packageName: string): string {
  if (packageName.startsWith('@langchain/google')) return 'maxOutputTokens';
  return packageName === '@langchain/ollama' ? 'numPredict' : 'maxTokens';
}

/** Options that say how a provider is reached and asked, which changes no vector. */
const ABOUT_THE_WAY = [
  'apiKey',
  'apiVersion',
  'azureOpenAIApiInstanceName',
  'azureOpenAIApiKey',
  'azureOpenAIApiVersion',
  'azureOpenAIBasePath',
  'azureOpenAIEndpoint',
  'baseURL',
  'baseUrl',
  'batchSize',
  'clientOptions',
  'configuration',
  'credentials',
  'encodingFormat',
  'endpoint',
  'headers',
  'keepAlive',
  'location',
  'maxConcurrency',
  'maxRetries',
  'openAIApiKey',
  'organization',
  'project',
  'region',
  'serverURL',
  'timeout',
];

/**
 * Eight digits that change with the options that may change vectors; empty without such options. Values that come from
 * the environment do not count: they are keys and addresses.
 */
export function digestOf(options: Options): string {
  const counted = Object.entries(options)
    .filter(([name]) => !ABOUT_THE_WAY.includes(name))
    .map(([name, value]): [string, unknown] => [name, canonical(value)])
    .filter(([, value]) => value !== undefined)
    .sort(byName);
  if (counted.length === 0) return '';
  return createHash('sha256').update(JSON.stringify(counted)).digest('hex').slice(0, 8);
}

/** Returns the value with all names in order, and without values of the environment. */
function canonical(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith('env:') ? undefined : value;
  if (Array.isArray(value)) return value.map(canonical);
  if (!isObject(value)) return value;
  return Object.entries(value)
    .map(([name, inner]): [string, unknown] => [name, canonical(inner)])
    .sort(byName);
}

function byName([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : 1;
}

function isObject(value: unknown): value is Options {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
