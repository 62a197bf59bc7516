/* global setImmediate */
import { openSync, readSync } from 'node:fs';

// Preloaded into a process of ours: measures how much processor time each turn of its event loop takes, and tells the
// longest when it is asked. Time of the processor, since other processes must not count.
const file = openSync('/proc/thread-self/schedstat', 'r');
const text = Buffer.alloc(64);

function milliseconds() {
  const length = readSync(file, text, 0, text.length, 0);
  return Number(text.latin1Slice(0, length).split(' ')[0]) / 1e6;
}

let longest = 0;
let last = milliseconds();

function endTurn() {
  const now = milliseconds();
  longest = Math.max(longest, now - last);
  last = now;
  // Not counted among what the loop has to do: it still sleeps while there is nothing else.
  setImmediate(endTurn).unref();
}
endTurn();

process.on('message', (message) => {
  if (message !== 'longest turn?') return;
  process.send({ longestTurn: longest });
  longest = 0;
});
process.channel?.unref();
