import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemErrorCode } from '../../shared/system-error-code.js';
import { say } from '../user-messages.js';
import { readOwnAddress } from './own-address.js';
import { connectTo } from './ping.js';
import { withClient } from './reach-redis.js';

/** Ends a Redis that was left running on our data when its supervisor was killed. Two servers would corrupt the files. */
export async function endLeftover(directory: string): Promise<void> {
  const url = await readOwnAddress(directory);
  if (url === null) return;
  for (let tries = 0; ; tries += 1) {
    try {
      await untilConnected(url);
      const { dir } = await withClient(url, (client) => client.configGet('dir'));
      if (dir !== directory) return;
      if (tries === 0) say('Ending the Redis that an earlier start left behind.');
      await withClient(url, (client) => client.sendCommand(['SHUTDOWN', 'NOSAVE']));
    } catch (error) {
      // Nothing listens there, or it is not our Redis.
      if (['ECONNREFUSED', 'ENOENT'].includes(systemErrorCode(error) ?? '') || tries >= 100) return;
    }
    await sleep(50);
  }
}

/** @throws when nothing listens there */
async function untilConnected(url: string): Promise<void> {
  const socket = connectTo(url);
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
}
