import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const LENGTH = 500_000;

test('a body that comes in pieces of one byte takes about its length of memory', async () => {
  const url = new URL('../../../../dist/api/http/request/body.js', import.meta.url).href;
  const program = `
    import { createServer } from 'node:http';
    import { connect } from 'node:net';
    import { once } from 'node:events';
    const { readBytes } = await import(${JSON.stringify(url)});
    const claim = { grow: (size) => { received = size; }, whileReading: () => () => undefined };
    let received = 0;
    let body;
    const server = createServer((request, response) => {
      body = readBytes(request, { maxBytes: 1e7, onReading: () => {}, claim, graceSeconds: 60 });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const memory = () => { gc(); const { heapUsed, external } = process.memoryUsage(); return heapUsed + external; };
    const before = memory();
    const client = connect(server.address().port, '127.0.0.1');
    client.write('POST / HTTP/1.1\\r\\nHost: x\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n');
    const piece = '1\\r\\na\\r\\n'.repeat(1000);
    for (let sent = 0; sent < ${String(LENGTH)}; sent += 1000) {
      if (!client.write(piece)) await once(client, 'drain');
    }
    while (received < ${String(LENGTH)}) await new Promise((resolve) => setTimeout(resolve, 10));
    const taken = memory() - before;
    client.write('0\\r\\n\\r\\n');
    console.log(JSON.stringify({ taken, text: (await body).equals(Buffer.alloc(${String(LENGTH)}, 'a')) }));
    process.exit();`;
  const options = ['--expose-gc', '--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, options);
  // @NOTE `any` of JSON.parse: what the lines above print
  const { taken, text } = JSON.parse(stdout) as { taken: number; text: boolean };
  expect(text).toBe(true);
  // Kept one by one, they take more than a hundred times their length.
  expect(taken).toBeLessThan(10 * LENGTH);
});
