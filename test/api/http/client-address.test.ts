import { describe, expect, test } from '@jest/globals';
import { clientAddressOf } from '../../../src/api/http/client-address.js';
import { parseTrustedProxies } from '../../../src/shared/settings/addresses.js';

describe('the address that requests are counted by', () => {
  test.each([
    ['1.2.3.4', '1.2.3.4'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['::ffff:102:304', '1.2.3.4'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:0001:2::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['nonsense', 'unknown'],
    ['', 'unknown'],
  ])('of %s is %s', (ip, address) => {
    expect(clientAddressOf({ ip })).toBe(address);
  });
});

describe('api.trust_proxy', () => {
  test.each<[string, ReturnType<typeof parseTrustedProxies>]>([
    ['0', 0],
    ['2', 2],
    ['10.0.0.0/8, ::1', ['10.0.0.0/8', '::1']],
    ['true', null],
    ['17', null],
    ['0.0.0.0/0', null],
    ['::/0', null],
    ['10.0.0.0/33', null],
    ['10.0.0.0/8,', null],
    ['proxy.example', null],
    ['', null],
  ])('"%s"', (text, proxies) => {
    expect(parseTrustedProxies(text)).toEqual(proxies);
  });
});
