import { isIP } from 'node:net';
import type { Request } from 'express';
import { at } from '../../shared/at.js';

/**
 * Returns the address of a request's client, for counting; `api.trust_proxy` says which proxies may state it. IPv6
 * addresses are cut to their /64 network, which one household or machine usually has. All invalid addresses count as one.
 */
export function clientAddressOf({ ip }: Pick<Request, 'ip'>): string {
  // A connection that has ended tells none.
  if (ip === undefined) return UNKNOWN;
  const address = at(ip.split('%'), 0);
  if (isIP(address) === 4) return address;
  return isIP(address) === 6 ? networkOf(groupsOf(address)) : UNKNOWN;
}

const UNKNOWN = 'unknown';

const GROUPS = 8;

/** Returns the eight groups of 16 bits. */
function groupsOf(address: string): number[] {
  // A URL holds the address in hexadecimal groups, with at most one `::`.
  const [before = '', after = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const read = (part: string) =>
    part.split(':').flatMap((group) => (group === '' ? [] : [parseInt(group, 16)]));
  const [start, end] = [read(before), read(after)];
  return [...start, ...Array<number>(GROUPS - start.length - end.length).fill(0), ...end];
}

function networkOf(groups: readonly number[]): string {
  const [high = 0, low = 0] = groups.slice(6);
  // ::ffff:a.b.c.d stands for an IPv4 address.
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xff_ff;
  if (isMapped) return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}
