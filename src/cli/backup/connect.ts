import { createClient, RESP_TYPES } from 'redis';
import { refuseCluster } from '../../shared/data-set/data-set.js';
import { KEY_PREFIX } from '../../shared/redis/keys.js';

/**
 * Connects for a backup or a restore. A connection that is lost is not made again: nobody would know the changes meanwhile.
 * @throws IncompatibleDataError for a Redis in cluster mode
 * @param options.tellsChanges whether the client emits `invalidate` with each key of the service that anybody writes
 */
export async function connect(url: string, { tellsChanges = false } = {}) {
  const client = createClient({
    url,
    RESP: 3,
    emitInvalidate: tellsChanges,
    socket: { connectTimeout: 5_000, reconnectStrategy: false },
  });
  // A lost connection also rejects the commands that wait, and all later ones.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await refuseCluster(client);
  } catch (error) {
    client.destroy();
    throw error;
  }
  if (tellsChanges) {
    // A client normally hears of changes of the keys it has read. This one reads nothing, and needs the changes of all
    // keys.
    await client.sendCommand(['CLIENT', 'TRACKING', 'OFF']);
    await client.sendCommand(['CLIENT', 'TRACKING', 'ON', 'BCAST', 'PREFIX', KEY_PREFIX]);
  }
  return client;
}
export type Client = Awaited<ReturnType<typeof connect>>;

/** The same connection, whose replies are bytes and not texts. */
export const inBytes = (client: Client) => client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
