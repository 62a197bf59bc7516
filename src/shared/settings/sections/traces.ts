import { z } from 'zod';
import { choice, flag, httpUrl, orEmpty, share, text } from '../setting-kinds.js';

/** The samplers of OpenTelemetry's specification that need no package of their own. */
const SAMPLERS = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const;

/** `key=value` pairs as in the header `baggage`, whose values may be percent-encoded. */
const isHeaderList = (value: string): boolean => {
  const pairs = value.split(',').map((pair) => pair.trim());
  return pairs.every((pair) => /^[\w!#$%&'*+.^`|~-]+\s*=[\x20-\x7e]*$/.test(pair));
};

export const traces = z.strictObject({
  endpoint: text(
    '',
    orEmpty(httpUrl),
    'Address that traces are sent to: a collector of OTLP over HTTP, such as `http://127.0.0.1:4318`; `/v1/traces` is added. Empty: no traces are made.',
    { alias: 'OTEL_EXPORTER_OTLP_ENDPOINT' },
  ),
  disabled: flag(false, 'Makes no traces, whatever else is set.', { alias: 'OTEL_SDK_DISABLED' }),
  headers: text(
    '',
    orEmpty({ accepts: isHeaderList, allowed: '`name=value` pairs, separated by commas' }),
    'Headers of what is sent to the collector, such as `authorization=Bearer%20…`.',
    { secret: true, alias: 'OTEL_EXPORTER_OTLP_HEADERS' },
  ),
  serviceName: text(
    'quire',
    { accepts: (value) => /^\S.{0,99}$/.test(value), allowed: 'a name of 1 to 100 characters' },
    'Name of the service in traces.',
    { alias: 'OTEL_SERVICE_NAME' },
  ),
  sampler: choice(SAMPLERS, 'parentbased_always_on', 'Choice of the requests that become traces.', {
    alias: 'OTEL_TRACES_SAMPLER',
  }),
  ratio: share(1, 'The share of requests that become traces, for the samplers with `traceidratio`.', {
    alias: 'OTEL_TRACES_SAMPLER_ARG',
  }),
  parent: choice(
    ['link', 'continue'],
    'link',
    'Treatment of the `traceparent` of a request: `link` begins a trace of its own, which refers to it and is sampled by its own rule; `continue` goes on with the trace, and samples as the caller says. Only where all callers are trusted.',
  ),
  toProviders: flag(
    false,
    'Sends a `traceparent` to providers of models, for servers of your own that continue traces.',
  ),
});
