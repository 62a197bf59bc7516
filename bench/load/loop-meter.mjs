import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

// Preloaded into a process of ours: tells by how much the turns of its event loop came late since it was last asked.
const RESOLUTION_MS = 2;

if (isMainThread) {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  process.on('message', (message) => {
    if (message !== 'event loop delay?') return;
    // It measures the times from one turn to the next, which its timer asks for.
    const late = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
    process.send({ eventLoopDelay: { p99: late(delays.percentile(99)), max: late(delays.max) } });
    delays.reset();
  });
  process.channel?.unref();
}
