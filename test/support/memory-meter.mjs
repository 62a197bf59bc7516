import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

// Preloaded into a process of ours: tells how much memory it holds when it is asked, after a collection. Resident memory
// says less: it depends on when the engine collects, which it does later the more memory a machine has.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

if (isMainThread) {
  process.on('message', (message) => {
    if (message !== 'held memory?') return;
    collect();
    const { heapUsed, external } = process.memoryUsage();
    process.send({ heldMemory: heapUsed + external });
  });
  process.channel?.unref();
}
