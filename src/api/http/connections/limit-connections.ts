import type { Server } from 'node:http';
import { z } from 'zod';

/** A connection takes some tens of kilobytes of this process. */
const MAX_CONNECTIONS = 10_000;
/** Of the descriptors of files and connections that the process may have; the rest is for files, Redis and threads. */
const SHARE_OF_DESCRIPTORS = 0.8;
/** From this part of the maximum on, connections without a request are closed. */
const CROWDED = 0.9;
const CLOSE_EVERY_MILLISECONDS = 100;

const reportSchema = z.object({
  userLimits: z.object({ open_files: z.object({ soft: z.union([z.number(), z.string()]) }) }),
});

/** Connections that this process can have and still open files: it depends on `ulimit -n`. */
export function connectionsOfThisProcess(): number {
  const { soft } = reportSchema.parse(process.report.getReport()).userLimits.open_files;
  const descriptors = Number(soft);
  // `unlimited` is no number.
  return Number.isNaN(descriptors)
    ? MAX_CONNECTIONS
    : Math.min(MAX_CONNECTIONS, Math.floor(descriptors * SHARE_OF_DESCRIPTORS));
}

/**
 * Holds the connections of a server below a maximum: when it is nearly reached, those that wait for their next request
 * are closed, as a server may do at any time (RFC 9112, 9.3); when it is reached, new ones are.
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
    if (open < CROWDED * max || performance.now() - closedAt < CLOSE_EVERY_MILLISECONDS) return;
    closedAt = performance.now();
    onCrowded(open);
    server.closeIdleConnections();
  });
}
