import { isIP } from 'node:net';
import type { Request } from 'express';

/**
 * The address that a request is from, for counting: what `api.trust_proxy` lets proxies say. IPv6 by its /64, which is
 * what one household or machine is given; an address that is none counts with all others of that kind.
 */
export function addressOf(request: Pick<Request, 'ip'>): string {
  const address = (request.ip ?? '').split('%')[0] ?? '';
  if (isIP(address) === 4) return address;
  return isIP(address) === 6 ? networkOf(groupsOf(address)) : 'unknown';
}

const GROUPS = 8;

/** The eight groups of sixteen bits. */
function groupsOf(address: string): number[] {
  // As WHATWG's URL writes it: in hexadecimal groups, with at most one gap.
  const [before = '', after] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const read = (part: string) =>
    part.split(':').flatMap((group) => (group === '' ? [] : [parseInt(group, 16)]));
  const [start, end] = [read(before), read(after ?? '')];
  return [...start, ...Array<number>(GROUPS - start.length - end.length).fill(0), ...end];
}

function networkOf(groups: readonly number[]): string {
  const [high = 0, low = 0] = groups.slice(6);
  // ::ffff:a.b.c.d is the IPv4 address itself.
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xff_ff;
  if (isMapped) return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}
