/**
 * Retrieval quality by ranking and engine alone, over the shared test collections, as `npm run bench` measures it:
 * `npx tsx bench/rankings.ts [collection…]`, after a build.
 */
import { measureRankings } from './quality.js';
import { COLLECTIONS } from './support/collections.js';

const named = process.argv.slice(2);
await measureRankings(named.length > 0 ? named : COLLECTIONS);
