import { createHash } from 'node:crypto';
import type { ModelsAddress, ModelsAddresses } from './models-address.js';

/**
 * Returns the processes in the order in which they are asked for an object that only one of them holds. The order is the
 * same at every place and time, and another one for each name, so that all processes hold about as much (rendezvous
 * hashing). When a process comes or goes, only the names that it held or gets have another first process.
 *
 * @param holder address of the process that holds it already; it is the first then
 */
export function stickyOrder(
  addresses: ModelsAddresses,
  name: string,
  holder: string | null = null,
): ModelsAddress[] {
  const weights = new Map(addresses.map(({ url }) => [url, url === holder ? '~' : weigh(url, name)]));
  const weightOf = ({ url }: ModelsAddress) => weights.get(url) ?? '';
  return [...addresses].sort((one, other) => (weightOf(one) < weightOf(other) ? 1 : -1));
}

/** Hexadecimal digits, all of them below `~`. */
function weigh(url: string, name: string): string {
  return createHash('sha256')
    .update(JSON.stringify([url, name]))
    .digest('hex');
}
