import type { Server } from 'node:http';
import { z } from 'zod';

/** Each connection takes some tens of kilobytes of memory. */
const MAX_CONNECTIONS = 10_000;
/** The share of file descriptors that connections may use. The rest is for files, Redis and threads. */
const DESCRIPTOR_SHARE = 0.8;
/** Idle connections are closed when this share of the maximum is reached. */
const CROWDED_SHARE = 0.9;
const CLOSE_EVERY_MILLISECONDS = 100;

const reportSchema = z.object({
  userLimits: z.object({ open_files: z.object({ soft: z.union([z.number(), z.string()]) }) }),
});

/** Returns how many connections this process can have and still open files. That depends on `ulimit -n`. */
export function connectionsOfThisProcess(): number {
  const { soft } = reportSchema.parse(process.report.getReport()).userLimits.open_files;
  const descriptors = Number(soft);
  // The report says `unlimited` where there is no limit.
  return Number.isNaN(descriptors)
    ? MAX_CONNECTIONS
    : Math.min(MAX_CONNECTIONS, Math.floor(descriptors * DESCRIPTOR_SHARE));
}

/**
 * Limits the connections of a server. When the maximum is nearly reached, idle connections are closed, as a server may do
 * at any time (RFC 9112, 9.3). When it is reached, new connections are closed. `onCrowded` is called with the number of
 * open connections each time that idle ones are closed.
 */
export function limitConnections(
  server: Server,
  { max, onCrowded }: { readonly max: number; readonly onCrowded: (open: number) => void },
): void {
  server.maxConnections = max;
  let open = 0;
  let closedAt = -Infinity;
  server.on('connection', (socket) => {
    open += 1;
    socket.once('close', () => (open -= 1));
    if (open < CROWDED_SHARE * max || performance.now() - closedAt < CLOSE_EVERY_MILLISECONDS) return;
    closedAt = performance.now();
    onCrowded(open);
    server.closeIdleConnections();
  });
}
