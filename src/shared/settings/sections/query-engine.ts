import { z } from 'zod';
import { choice, whole } from '../setting-kinds.js';

/** Settings that apply with `index = "query-engine"`. */
export const queryEngine = z.strictObject({
  algorithm: choice(
    ['flat', 'hnsw'],
    'flat',
    '`flat` compares with every vector that access and filter let through; `hnsw` walks a graph of near ones (for vectors of a model, above 50,000 chunks).',
  ),
  hnswM: whole(
    16,
    { min: 2, max: 512 },
    'Neighbours of a vector in the graph: more of them improve recall and take memory.',
  ),
  hnswEfConstruction: whole(
    200,
    { min: 4, max: 4096 },
    'Vectors in view when one is put into the graph: more of them improve recall and slow down writing.',
  ),
  hnswEfRuntime: whole(
    400,
    { min: 1, max: 4096 },
    'Vectors in view of a search: more of them improve recall and take longer. They are at least as many as it asks for, and more where access and filter let fewer through.',
  ),
});
