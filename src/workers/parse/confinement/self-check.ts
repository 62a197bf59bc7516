import { readlink } from 'node:fs/promises';
import { countTokens } from '../../../shared/text/token-count.js';
import { loadAllParsers } from '../formats/parsers.js';

// Runs as a parser would: shows that all of its code can be read from there, and says where "there" is.
await loadAllParsers();
countTokens('The encoder, too.');
const found = {
  uid: process.getuid?.() ?? null,
  groups: process.getgroups?.() ?? [],
  network: await readlink('/proc/self/ns/net').catch(() => null),
};
process.stdout.write(JSON.stringify(found));
