import { z } from 'zod';
import type { Logger } from '../shared/observability/logger.js';
import type { Settings } from '../shared/settings/schema.js';
import { parseTrustedProxies, trustedProxyTest } from '../shared/settings/trusted-proxies.js';
import { createConnectionRoom, type Shortage } from './http/connections/connection-room.js';
import type { ConnectionLimits } from './http/connections/limit-connections.js';
import type { ProcessMetrics } from './pages/process-metrics.js';

/** Each connection takes some tens of kilobytes of memory. */
const MAX_CONNECTIONS = 10_000;
const MIN_CONNECTIONS = 8;
/** Below this, the clients of one busy address fill its share. */
const FEW_CONNECTIONS = 400;
/** An API process without a connection has some 40 descriptors: of Redis, threads and its log. */
const OWN_DESCRIPTORS = 64;
const RESERVE = 16;
/** A request may need a second one, for a file or for a provider. HAProxy reckons so as well. */
const DESCRIPTORS_PER_CONNECTION = 2;
const ADDRESS_SHARE = 0.25;
const WARN_EVERY_MILLISECONDS = 10_000;

const reportSchema = z.object({
  userLimits: z.object({ open_files: z.object({ soft: z.union([z.number(), z.string()]) }) }),
});

type ConnectionMetrics = Pick<ProcessMetrics, 'showConnections' | 'countRefused'>;

/**
 * Returns the limits of connections to this process, in all and for each address. They depend on its descriptors (`ulimit
 * -n`).
 */
export function connectionLimitsOf(
  { api }: Settings,
  logger: Logger,
  metrics: ConnectionMetrics,
): ConnectionLimits {
  const descriptors = descriptorsOfThisProcess();
  const { max, perAddress, reserve } = connectionsWithin(descriptors, api.connectionsPerAddress);
  if (max < FEW_CONNECTIONS)
    logger.warn({ descriptors, connections: max }, 'few descriptors: `ulimit -n` limits the connections');
  const room = createConnectionRoom({ max, perAddress, reserve });
  metrics.showConnections(room);
  const warn = warnSometimes(logger);
  return {
    room,
    isTrustedProxy: trustedProxyTest(parseTrustedProxies(api.trustProxy) ?? 0),
    onRefused: (shortage, address) => {
      metrics.countRefused(shortage);
      warn(shortage, address);
    },
  };
}

function descriptorsOfThisProcess(): number {
  const { soft } = reportSchema.parse(process.report.getReport()).userLimits.open_files;
  const descriptors = Number(soft);
  // The report says `unlimited` where there is no limit.
  return Number.isNaN(descriptors) ? Infinity : descriptors;
}

/** Returns the connections that this many descriptors are enough for, files and the reserve aside. 0: a share by default. */
export function connectionsWithin(descriptors: number, perAddress: number) {
  const possible = Math.floor((descriptors - OWN_DESCRIPTORS - 2 * RESERVE) / DESCRIPTORS_PER_CONNECTION);
  const max = Math.max(MIN_CONNECTIONS, Math.min(MAX_CONNECTIONS, possible));
  return {
    max,
    perAddress: perAddress === 0 ? Math.ceil(max * ADDRESS_SHARE) : perAddress,
    reserve: RESERVE,
  };
}

/** Refusals come by the thousand, and are counted elsewhere. */
function warnSometimes(logger: Logger): (shortage: Shortage, address: string) => void {
  let warnedAt = -Infinity;
  return (shortage, address) => {
    if (performance.now() - warnedAt < WARN_EVERY_MILLISECONDS) return;
    warnedAt = performance.now();
    logger.warn({ shortage, address }, 'requests are refused: too many connections');
  };
}
