import type { Client } from '../../support/client.js';
import { observed, oneOf, type Attack, type Target } from '../attack.js';
import { closeAll, headOf, openMany, statusLine, untilHeard } from '../connections.js';

const STREAM = ['Content-Type: application/x-ndjson', 'Transfer-Encoding: chunked'] as const;
const chunkOf = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

/** Streams the same lines on many connections at once, until all have been answered. */
async function streamLines(
  { port, isShort, slowness }: Target,
  {
    client,
    line,
    connections,
  }: { readonly client: Client; readonly line: string; readonly connections: number },
): Promise<(number | string)[]> {
  const piece = chunkOf(line.repeat(Math.floor(65_536 / line.length)));
  const pieces = isShort ? 4 : 16;
  const opened = await openMany(port, isShort ? connections / 4 : connections);
  for (const { socket } of opened) {
    socket.write(headOf(client, 'POST /ingest/batch', ...STREAM));
    for (let n = 0; n < pieces; n += 1) socket.write(piece);
    socket.write('0\r\n\r\n');
  }
  await untilHeard(opened, 40 * slowness);
  const statuses = opened.map(({ received }) => statusLine(received()));
  closeAll(opened);
  return statuses;
}

export const streamAttacks: readonly Attack[] = [
  {
    name: 'streams of a million blank lines',
    run: async (target) =>
      observed(
        await streamLines(target, { client: target.attacker, line: '\n', connections: 32 }),
        oneOf(200, 503),
      ),
  },
  {
    name: 'streams of a million lines of one letter',
    run: async (target) =>
      observed(
        await streamLines(target, { client: target.attacker, line: 'x\n', connections: 32 }),
        oneOf(200, 503),
      ),
  },
];
