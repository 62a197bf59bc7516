import { addressParser, type Address } from 'postal-mime';
import { wordsInUtf8 } from './encoded-words.js';
import type { Part } from './parse-parts.js';
import { oneLine } from '../../../blocks/one-line.js';

/** The people that a header such as `To` names. */
export interface People {
  /** As the header has them: `Ann <ann@example.com>, Bob <bob@example.com>`. */
  readonly text: string;
  /** Bare addresses, or names where there is no address. */
  readonly addresses: readonly string[];
}

/** @param most how many are taken; there is one sender */
export function peopleOf({ headers }: Part, name: string, most = Infinity): People {
  const addresses = headers
    .filter(({ key, value }) => key === name && value !== '')
    .flatMap(({ value }) => addressParser(wordsInUtf8(value)))
    .slice(0, most);
  return { text: oneLine(addresses.map(oneAddress).join(', ')), addresses: bareAddresses(addresses) };
}

function oneAddress({ name, address, group }: Address): string {
  if (group) return `${name}: ${group.map(oneAddress).join(', ')}`;
  if (name === '') return address;
  return address === '' || address === name ? name : `${name} <${address}>`;
}

const bareAddresses = (addresses: readonly Address[]): string[] =>
  addresses.flatMap(({ name, address, group }) => (group ? bareAddresses(group) : [address || name]));
