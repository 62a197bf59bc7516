import { describe, expect, test } from '@jest/globals';
import { createLogger } from '../../../src/shared/observability/logger.js';
import { readSettings } from '../../../src/shared/settings/load.js';
import { openTelemetry } from '../../../src/shared/tracing/open-telemetry.js';
import { areTracesWanted } from '../../../src/shared/tracing/start-tracing.js';
import { startOtlpReceiver } from '../../support/otlp-receiver.js';
import { freePort } from '../../support/redis.js';
import { until } from '../../support/until.js';

const settingsOf = (env: Record<string, string>) => {
  const read = readSettings({ env, toml: null });
  if ('problems' in read) throw new Error(JSON.stringify(read.problems));
  return read.settings;
};

function open(env: Record<string, string>) {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const logger = createLogger({ level: 'info', process: 'test', destination });
  return { ...openTelemetry(settingsOf(env).traces, { process: 'test', logger }), lines };
}

describe('what is sent to a collector', () => {
  test('follows the variables that OpenTelemetry names', async () => {
    const collector = await startOtlpReceiver();
    const { tracer, close } = open({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/base/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-one=1, x-two=a%20b=c',
      OTEL_SERVICE_NAME: 'mine',
    });
    tracer.beginTrace('request', { from: null, kind: 'server' }).end();
    await close();
    expect(collector.requests).toMatchObject([
      { path: '/base/v1/traces', headers: { 'x-one': '1', 'x-two': 'a b=c' } },
    ]);
    expect(collector.spans).toMatchObject([
      { name: 'request', kind: 2, resource: { 'service.name': 'mine', 'quire.process': 'test' } },
    ]);
    await collector.stop();
  });

  test('is a share of the traces where that is asked for, whatever callers say', async () => {
    const collector = await startOtlpReceiver();
    const { tracer, close } = open({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.2',
    });
    // This id would be kept first of all, and it says that it is kept.
    const traceparent = '00-00000000000000000000000000000001-00f067aa0ba902b7-01';
    for (let i = 0; i < 1_000; i += 1)
      tracer.beginTrace('request', { from: { traceparent, isContinued: false } }).end();
    await close();
    expect(collector.spans.length).toBeGreaterThan(100);
    expect(collector.spans.length).toBeLessThan(300);
    await collector.stop();
  });

  test('is dropped beyond what may wait, while the collector never answers, and closing waits for it no longer than two seconds', async () => {
    const collector = await startOtlpReceiver();
    collector.hang();
    const { tracer, close } = open({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    for (let i = 0; i < 10_000; i += 1) tracer.beginTrace('request', { from: null }).end();
    const began = performance.now();
    await close();
    expect(performance.now() - began).toBeLessThan(4_000);
    // The waiting spans, and the spans under way.
    expect(collector.spans.length).toBeLessThanOrEqual(2_048 + 512);
    expect(collector.spans.length).toBeGreaterThan(0);
    await collector.stop();
  });

  test('is lost where there is no collector, and the log says so once', async () => {
    const url = `http://127.0.0.1:${String(await freePort())}`;
    const { tracer, close, lines } = open({ OTEL_EXPORTER_OTLP_ENDPOINT: url });
    for (let i = 0; i < 1_200; i += 1) tracer.beginTrace('request', { from: null }).end();
    await until(() => lines.length > 0);
    await close();
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { level: 'warn', msg: 'traces were not sent' },
    ]);
  });
});

describe('traces', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

  test.each([
    [{}, false],
    [endpoint, true],
    [{ QUIRE_TRACES_ENDPOINT: 'http://127.0.0.1:4318' }, true],
    [{ ...endpoint, OTEL_SDK_DISABLED: 'true' }, false],
    [{ ...endpoint, OTEL_TRACES_SAMPLER: 'always_off' }, false],
  ])('with %p are made: %p', (env, wanted) => {
    expect(areTracesWanted(settingsOf(env))).toBe(wanted);
  });

  test('headers of the collector are never shown where a setting is wrong', () => {
    const read = readSettings({ env: { OTEL_EXPORTER_OTLP_HEADERS: 'no pair: hush' }, toml: null });
    expect(JSON.stringify(read)).not.toContain('hush');
    expect(read).toMatchObject({ problems: [{ setting: 'OTEL_EXPORTER_OTLP_HEADERS' }] });
  });
});
