/* global fetch, AbortSignal */
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

// A caller in a process of its own, so that what it measures is the service and not who attacks it. It asks at a steady
// pace, whether it has been answered or not: whatever lasts is met more than once.
const [url, authorization, control] = process.argv.slice(2);
const PATIENCE_MS = 20_000;
const EVERY_MS = 200;
const underWay = new Set();

/** Asks once more where the connection had just been closed, as servers do with idle ones and clients must expect. */
async function statusOf(address, init, isSecond = false) {
  try {
    const response = await fetch(address, init);
    await response.arrayBuffer();
    return response.status;
  } catch (error) {
    const isClosed =
      error instanceof TypeError && ['ECONNRESET', 'UND_ERR_SOCKET'].includes(error.cause?.code);
    if (!isClosed || isSecond) throw error;
    return statusOf(address, init, true);
  }
}

async function timed(kind, address, init) {
  const startedAt = performance.now();
  underWay.add(startedAt);
  let status = 0;
  try {
    status = await statusOf(address, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) });
  } catch {
    // No answer at all: status 0.
  }
  underWay.delete(startedAt);
  const milliseconds = performance.now() - startedAt;
  const oldest = Math.min(...underWay, performance.now());
  process.send({ kind, status, startedAt, milliseconds, oldest });
}

const headers = { authorization, 'content-type': 'application/json' };
const body = JSON.stringify({ query: 'canary', k: 1 });
for (;;) {
  void timed('health', `${url}/health`, {});
  void timed('search', `${url}/retrieve/chunks`, { method: 'POST', headers, body });
  void timed('control', control, {});
  await sleep(EVERY_MS);
}
