import {
  PACKAGES,
  VECTOR_ENGINES,
  WORD_ENGINES,
  type VectorEngineName,
  type WordEngineName,
} from '../peers/engines.js';
import { findPeers } from '../peers/find-peers.js';
import { measureInProcess, withEngines } from '../peers/in-process.js';
import { measureOverHttp } from '../peers/over-http.js';
import { createVectorRecall } from '../peers/vector-recall.js';
import type { Collection } from '../support/collections.js';

/** More do not fit into the heap of some libraries, and take many minutes in a graph of vectors. */
const MAX_CHUNKS = 100_000;

/**
 * Beside other libraries: words and vectors in the process of each, words and ingest over HTTP. What is not installed is
 * left out.
 */
export async function measurePeers(scifact: Collection, sizes: readonly number[]) {
  const peers = findPeers();
  const isThere = (name: WordEngineName | VectorEngineName) => {
    const needed = PACKAGES[name];
    return needed === null || peers.has(needed);
  };
  const figures = [];
  for (const size of sizes) {
    if (size > MAX_CHUNKS) {
      console.log(
        `skipped: ${String(size)} chunks, since other libraries are measured up to ${String(MAX_CHUNKS)}`,
      );
      continue;
    }
    const words = await withEngines(WORD_ENGINES.filter(isThere), size, async (engines) => {
      const inProcess = await measureInProcess(engines);
      printHeading(size, 'words in one process each, one thread, nothing else; ratios: beside `postings`');
      console.table(inProcess);
      const overHttp = await measureOverHttp(engines, size, scifact);
      printHeading(
        size,
        'over HTTP, beside libraries in a bare server, WITHOUT access control or durability; ratios: beside the API',
      );
      console.table(overHttp.searches);
      console.log('10,000 texts in batches of 500; only the API keeps them, with `appendfsync always`');
      console.table(overHttp.ingest);
      return { inProcess, ...overHttp };
    });
    const vectors = await measureVectors(VECTOR_ENGINES.filter(isThere), size);
    figures.push({ size, words, vectors });
  }
  return { figures, measured: {} };
}

async function measureVectors(names: readonly VectorEngineName[], size: number) {
  const { recall, queries } = createVectorRecall(size);
  return withEngines(names, size, async (engines) => {
    const rows = await measureInProcess(engines);
    const recalls = new Map<string, number | null>();
    for (const { name, answers } of engines)
      recalls.set(name, name === 'raw-scan' ? null : recall(await answers(queries)));
    const withRecall = rows.map((row) => ({ ...row, recall10: recalls.get(row.engine) ?? null }));
    printHeading(
      size,
      'vectors of 384 dimensions in one process each, one thread; ratios: beside `mirror`; hnswlib with M 16, efConstruction 200 and an ef of 100 or 400; `hnswlib-brute-force` and `raw-scan` look at all',
    );
    console.table(withRecall);
    return withRecall;
  });
}

function printHeading(size: number, text: string): void {
  console.log(`${String(size)} chunks, k = 10, ${text}`);
}
