/**
 * Measures what the service is to reach, beside other libraries where they are installed: `npm run bench`, or some parts of
 * it and other numbers of chunks, `npm run bench -- words 15000`. Prints tables, then all goals with what was measured, then
 * one line of JSON. `BENCH_LARGE=1` adds 500,000 chunks; `QUIRE_BENCH_PEERS` names a folder with the other libraries,
 * `QUIRE_BENCH_MODEL` an embedding model in GGUF for the part `semantic`, `QUIRE_BENCH_RANKING_MODEL` a ranking model beside it.
 */
import { measureCaches } from './parts/caches.js';
import { measureChunking } from './parts/chunking.js';
import { measureFormats } from './parts/formats.js';
import { goalTable, type Measured } from './parts/goals.js';
import { measureIngest } from './parts/ingest.js';
import { measureLargePdf } from './parts/large-pdf.js';
import { measureIdleMemory } from './parts/memory.js';
import { measurePdf } from './parts/pdf.js';
import { measurePeers } from './parts/peers.js';
import { measureQuality } from './parts/quality.js';
import { measureSemantic } from './parts/semantic.js';
import { measureTraces } from './parts/traces.js';
import { measureWords } from './parts/words.js';
import { loadCollection } from './support/collections.js';
import { describeMachine } from './support/machine.js';

const PARTS = [
  'memory',
  'chunking',
  'pdf',
  'formats',
  'large-pdf',
  'words',
  'peers',
  'ingest',
  'quality',
  'semantic',
  'caches',
  'traces',
] as const;
type Part = (typeof PARTS)[number];

interface PartResult {
  readonly figures: unknown;
  readonly measured: Measured;
}

const asked = process.argv.slice(2);
const sizes = asked.filter((each) => /^\d+$/.test(each)).map(Number);
const named = asked.filter((each) => !/^\d+$/.test(each));
const unknown = named.filter((each) => !PARTS.some((part) => part === each));
if (unknown.length > 0) {
  console.error(`npm run bench -- [${PARTS.join('|')}]… [number of chunks]…`);
  process.exit(1);
}
if (sizes.length === 0) sizes.push(15_000, 100_000);
if (process.env['BENCH_LARGE'] === '1' && !sizes.includes(500_000)) sizes.push(500_000);
sizes.sort((a, b) => a - b);

const machine = describeMachine();
console.table(machine);
const scifact = loadCollection('scifact');
if (!scifact) process.exit(0);
const measures: Readonly<Record<Part, () => Promise<PartResult | null> | PartResult>> = {
  memory: measureIdleMemory,
  chunking: () => measureChunking(scifact),
  pdf: () => measurePdf(scifact),
  formats: () => measureFormats(scifact),
  'large-pdf': () => measureLargePdf(scifact),
  words: () => measureWords(scifact, sizes),
  peers: () => measurePeers(scifact, sizes),
  ingest: () => measureIngest(scifact, Math.max(...sizes)),
  quality: measureQuality,
  semantic: measureSemantic,
  caches: () => measureCaches(scifact),
  traces: () => measureTraces(scifact),
};
const figures: Partial<Record<Part, unknown>> = {};
const measured: Measured = {};
for (const part of PARTS) {
  if (named.length > 0 && !named.includes(part)) continue;
  console.log(`\n${part}`);
  const found = await measures[part]();
  figures[part] = found?.figures;
  Object.assign(measured, found?.measured);
}
const goals = goalTable(measured);
const shown = named.length === 0 ? goals : goals.filter(({ ratio }) => ratio !== null);
if (shown.length > 0) {
  console.log('\ngoals: a ratio of 1 or more reaches one');
  console.table(shown);
}
console.log(JSON.stringify({ machine, sizes, figures, goals }));
