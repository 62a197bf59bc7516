import type { DataSet, Reindexing } from '../shared/data-set/data-set.js';
import { ANALYSIS_VERSION } from '../shared/text/analysis/version.js';
import { FIRST_VECTORS, type VectorSet, type VectorType } from '../shared/data-set/stored-vectors.js';

/** The model and type of vectors that the settings state. */
export interface Target {
  readonly model: string;
  readonly vectorType: VectorType;
}

export interface Plan {
  readonly model: string;
  readonly vectors: VectorSet;
  /** The source of the vectors: they exist already, or are converted from the old ones, or are embedded from the texts. */
  readonly source: 'kept' | 'converted' | 'embedded';
}

/** Plans a reindexing. An unfinished run with the same target is continued; any other is discarded. */
export function planReindex(data: DataSet, target: Target, unfinished: Reindexing | null): Plan {
  const { model, vectorType } = target;
  const isSameModel = data.model === model;
  // Other terms are written together with vectors under a new name, by which workers see the progress.
  if (isSameModel && data.vectors.type === vectorType && data.analysis === ANALYSIS_VERSION)
    return { model, vectors: data.vectors, source: 'kept' };
  const goesOn = unfinished?.model === model && unfinished.vectorType === vectorType;
  const field = goesOn ? unfinished.vectorField : nextField(data.vectors.field, unfinished?.vectorField);
  return {
    model,
    vectors: { field, type: vectorType },
    source: isSameModel ? 'converted' : 'embedded',
  };
}

/** Returns `vector`, `vector2`, `vector3`, …, and never a name that may hold other vectors. */
function nextField(...used: readonly (string | undefined)[]): string {
  const numbers = used.map((field) => Number(field?.slice(FIRST_VECTORS.field.length)) || 1);
  return `${FIRST_VECTORS.field}${String(Math.max(...numbers) + 1)}`;
}
