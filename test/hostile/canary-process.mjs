/* global fetch, AbortSignal */
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

// A caller in a process of its own, so that what it measures is the service and not who attacks it.
const [url, authorization] = process.argv.slice(2);
const PATIENCE_MS = 20_000;

async function timed(kind, path, init) {
  const start = performance.now();
  let status = 0;
  try {
    const response = await fetch(url + path, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) });
    await response.arrayBuffer();
    status = response.status;
  } catch {
    // No answer at all: status 0.
  }
  process.send({ kind, status, milliseconds: performance.now() - start });
}

const headers = { authorization, 'content-type': 'application/json' };
const body = JSON.stringify({ query: 'canary', k: 1 });
for (;;) {
  await timed('health', '/health', {});
  await timed('search', '/retrieve/chunks', { method: 'POST', headers, body });
  await sleep(50);
}
