/** The faults of a reply. */
export type RerankerFault =
  | 'repeated_index'
  | 'index_out_of_range'
  | 'negative_index'
  | 'no_index'
  | 'too_few'
  | 'too_many'
  | 'not_a_number'
  | 'infinite'
  | 'score_as_text'
  | 'above_one'
  | 'below_zero'
  | 'no_results'
  | 'not_json'
  | 'empty'
  | 'huge'
  | 'slow_drip'
  | 'silence'
  | 'disconnect'
  | 'redirect';

/** One of a reply, which may be wrong. */
export interface RerankResult {
  readonly index: unknown;
  readonly score: unknown;
}

/** Null for a fault that is not one of the results. */
export function wrongResults(
  results: readonly RerankResult[],
  fault: RerankerFault,
): readonly RerankResult[] | null {
  const [first, ...others] = results;
  if (!first) return null;
  const withFirst = (change: Partial<RerankResult>) => [...others, { ...first, ...change }];
  switch (fault) {
    case 'repeated_index':
      return withFirst({ index: results.at(-1)?.index });
    case 'index_out_of_range':
      return withFirst({ index: results.length });
    case 'negative_index':
      return withFirst({ index: -1 });
    case 'no_index':
      return withFirst({ index: undefined });
    case 'too_few':
      return others;
    case 'too_many':
      return [...results, first];
    case 'not_a_number':
      return withFirst({ score: Number.NaN });
    case 'infinite':
      return withFirst({ score: 'infinite' });
    case 'score_as_text':
      return withFirst({ score: '0.5' });
    case 'above_one':
      return withFirst({ score: 1.5 });
    case 'below_zero':
      return withFirst({ score: -0.5 });
    default:
      return null;
  }
}
