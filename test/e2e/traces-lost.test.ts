import { describe, expect, test } from '@jest/globals';
import { createClient } from '../support/client.js';
import { startOtlpReceiver } from '../support/otlp-receiver.js';
import { freePort } from '../support/redis.js';
import { startService } from '../support/service.js';
import { until } from '../support/until.js';

describe('a collector that is away or never answers', () => {
  test.each(['away', 'silent'])(
    'changes nothing when it is %s: requests pass, and processes stop in time',
    async (how) => {
      const silent = await startOtlpReceiver();
      silent.hang();
      const away = `http://127.0.0.1:${String(await freePort())}`;
      const endpoint = how === 'away' ? away : silent.url;
      const other = await startService({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } });
      try {
        const client = createClient(other.url, 'alone');
        for (let i = 0; i < 40; i += 1) {
          const started = performance.now();
          const reply = await client.post('/ingest/text', { content: `Text ${String(i)} about plums.` });
          expect(reply.status).toBe(200);
          expect(performance.now() - started).toBeLessThan(5_000);
        }
        expect((await client.searchChunks('plums')).body.length).toBeGreaterThan(0);
        if (how === 'silent') await until(() => silent.requests.length > 0);
      } finally {
        const started = performance.now();
        await other.stop();
        // The API waits for nobody, and what is left is sent for a second or two.
        expect(performance.now() - started).toBeLessThan(10_000);
        await silent.stop();
      }
    },
  );
});

/** Tells at the end of a process which files of packages for traces it has loaded. */
const TELL_LOADED = `data:text/javascript,${encodeURIComponent(`
import { createRequire } from 'node:module';
const { cache } = createRequire(import.meta.filename ?? '/');
process.on('exit', () => console.log('loaded for traces: ' + Object.keys(cache).filter((each) => each.includes('@opentelemetry/')).map((each) => each.replace(/.*@opentelemetry.([^/]+).*/, '$1')).filter((each, i, all) => all.indexOf(each) === i)));
`)}`;

describe('without an endpoint', () => {
  test('nothing is sent, and no package for sending it is loaded', async () => {
    const other = await startService({ execArgv: ['--import', TELL_LOADED] });
    await createClient(other.url, 'untraced').ingestText('About sloes.');
    await other.stop();
    const outputs = [other.api, ...other.workers].map((each) => each.output());
    for (const output of outputs) {
      expect(output).toContain('loaded for traces: ');
      expect(output).not.toMatch(/loaded for traces: .*(?:sdk|exporter)/);
      expect(output).not.toContain('trace_id');
    }
  });
});
