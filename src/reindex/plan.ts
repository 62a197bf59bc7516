import type { DataSet } from '../shared/data-set/data-set.js';
import type { Reindexing } from '../shared/data-set/reindexing.js';
import { FIRST_VECTORS, type VectorSet, type VectorType } from '../shared/data-set/vectors.js';

/** What the settings ask the data to be. */
export interface Target {
  readonly model: string;
  readonly vectorType: VectorType;
}

export interface Plan {
  readonly model: string;
  readonly vectors: VectorSet;
  /** Where the vectors come from: they stand already, are the old ones in another type, or are made of the texts. */
  readonly source: 'kept' | 'converted' | 'embedded';
}

/** An unfinished run towards the same target is gone on with; one towards another is given up. */
export function planReindex(data: DataSet, target: Target, unfinished: Reindexing | null): Plan {
  const { model, vectorType } = target;
  const isSameModel = data.model === model;
  if (isSameModel && data.vectors.type === vectorType)
    return { model, vectors: data.vectors, source: 'kept' };
  const goesOn = unfinished?.model === model && unfinished.vectorType === vectorType;
  const field = goesOn ? unfinished.vectorField : nextField(data.vectors.field, unfinished?.vectorField);
  return {
    model,
    vectors: { field, type: vectorType },
    source: isSameModel ? 'converted' : 'embedded',
  };
}

/** `vector`, `vector2`, `vector3`, …: never one that may hold other vectors. */
function nextField(...used: readonly (string | undefined)[]): string {
  const numbers = used.map((field) => Number(field?.slice(FIRST_VECTORS.field.length)) || 1);
  return `${FIRST_VECTORS.field}${String(Math.max(...numbers) + 1)}`;
}
