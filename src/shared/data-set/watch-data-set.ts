import type { Redis } from '../redis/client.js';
import { repeat } from '../tools/repeat.js';
import { IncompatibleDataError, markAgain, readDataSet, type DataSet } from './data-set.js';

const LOOK_MILLISECONDS = 1_000;

/**
 * Notices when `npx quire reindex` has made other vectors or another index serve than this process knows. The process must end
 * then, since its settings are old. Data that lost its mark is marked again. @returns a function that ends the watch
 */
export function watchDataSet(
  redis: Redis,
  known: Pick<DataSet, 'model' | 'vectors'>,
  { index, onChange }: { index: () => string | null; onChange: () => void },
): () => void {
  const look = async () => {
    const found = await readDataSet(redis);
    if (!found) {
      await markAgain(redis, known);
      return;
    }
    const mine = index();
    const isSame =
      found.model === known.model &&
      found.vectors.field === known.vectors.field &&
      found.vectors.type === known.vectors.type &&
      (mine === null || found.index === null || found.index === mine);
    if (!isSame) onChange();
  };
  const onError = (error: unknown) => {
    // A Redis that is away is reported elsewhere and no reason to end. Data of another key layout is one.
    if (error instanceof IncompatibleDataError) onChange();
  };
  return repeat(look, { everyMilliseconds: LOOK_MILLISECONDS, onError });
}
