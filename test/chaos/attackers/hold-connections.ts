import { closeAll, holdUploads } from '../../hostile/connections.js';
import { createClient } from '../../support/client.js';
import type { RawConnection } from '../../support/raw-http.js';
import type { Actor } from '../arena.js';
import { pause, untilOver } from './pause.js';

/** More than an address may have where an API has 768 descriptors. */
const OF_AN_ADDRESS = 120;
const ADDRESSES = ['127.0.0.2', '127.0.0.3'] as const;

/** Holds uploads that never end, from several addresses, for a while at each API. */
export async function holdConnections(actor: Actor, signal: AbortSignal): Promise<void> {
  const { random, name } = actor;
  await untilOver(signal, async () => {
    const { url } = actor.arena.cluster.api(random.whole(0, 1));
    const target = { port: Number(new URL(url).port), caller: createClient(url, name) };
    const held: RawConnection[] = [];
    for (const address of ADDRESSES)
      // Nobody listens while it is down.
      held.push(...(await holdUploads(target, OF_AN_ADDRESS, address).catch(() => [])));
    await pause(actor, signal, [2_000, 8_000]);
    closeAll(held);
    await pause(actor, signal, [500, 2_000]);
  });
}
