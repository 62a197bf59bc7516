import { BlockList, isIP } from 'node:net';
import { z } from 'zod';
import { settingNotes } from './setting-kinds.js';

const MAX_HOPS = 16;

/** Proxies whose X-Forwarded-* headers are trusted: a number of proxies before this service, or networks. */
export type TrustedProxies = number | readonly string[];

/**
 * Parses the setting; null when it is invalid. A network of everybody is refused, since
 * a header that anybody may write proves nothing.
 */
export function parseTrustedProxies(text: string): TrustedProxies | null {
  const trimmed = text.trim();
  if (/^\d{1,2}$/.test(trimmed)) return Number(trimmed) <= MAX_HOPS ? Number(trimmed) : null;
  const networks = trimmed.split(',').map((network) => network.trim());
  return networks.every(isNetwork) ? networks : null;
}

function isNetwork(network: string): boolean {
  const [address = '', prefix, ...more] = network.split('/');
  const bits = new Map([
    [4, 32],
    [6, 128],
  ]).get(isIP(address));
  if (bits === undefined || address.includes('%') || more.length > 0) return false;
  if (prefix === undefined) return true;
  return /^\d{1,3}$/.test(prefix) && Number(prefix) >= 1 && Number(prefix) <= bits;
}

/**
 * Returns whether a connection from an address comes from a trusted proxy. Where only their number is known, nobody else
 * connects.
 */
export function trustedProxyTest(proxies: TrustedProxies): (address: string) => boolean {
  if (typeof proxies === 'number') return () => proxies > 0;
  const list = new BlockList();
  for (const network of proxies) {
    const [address = '', prefix] = network.split('/');
    const family = familyOf(address);
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return (address) => isIP(address) !== 0 && list.check(address, familyOf(address));
}

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** A number may stand without quotes. `false` means none in earlier settings files. */
const written = (value: unknown) =>
  typeof value === 'number' || value === false ? String(Number(value)) : value;

export const trustProxy = z
  .preprocess(
    (value) => (value === 'false' ? '0' : written(value)),
    z.string().refine((text) => parseTrustedProxies(text) !== null),
  )
  .default('0')
  .register(settingNotes, {
    kind: 'text',
    description:
      'Reverse proxies before this service, whose X-Forwarded-* headers are trusted: their number, or their networks.',
    allowed: `a number from 0 to ${String(MAX_HOPS)}, or addresses and networks such as "10.0.0.0/8, ::1"; not true: it would believe what anybody writes`,
  });

/** Tells whether a host name or an address (with or without brackets) can only be reached from this machine. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return (
    name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name)
  );
}
