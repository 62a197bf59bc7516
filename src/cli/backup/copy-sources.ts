import { MissingObjectError, type ObjectStorage } from '../../shared/ports.js';
import { putHashed } from './hashed.js';
import { placeOfSource, type Part } from './manifest.js';

const AT_ONCE = 4;

interface Storages {
  readonly from: ObjectStorage;
  readonly to: ObjectStorage;
}

/** Copies the sources that documents refer to from the object storage into the place of a backup. */
export function createSourceCopies({
  from,
  to,
}: {
  readonly from: ObjectStorage;
  readonly to: ObjectStorage;
}) {
  /** Key of a document's record → the sources that it refers to. */
  const ofDocument = new Map<string, readonly string[]>();
  const copied = new Map<string, Part>();
  const wanted = (): readonly string[] => [...new Set([...ofDocument.values()].flat())];
  return {
    /** Notes the sources of a record, in place of its former sources; null for a record that is gone. */
    note: (record: string, sources: readonly string[] | null): void => {
      ofDocument.delete(record);
      if (sources) ofDocument.set(record, sources);
    },
    /** Copies the sources that are not copied yet. */
    copy: async (): Promise<void> => {
      const queue = wanted()
        .filter((key) => !copied.has(key))
        .values();
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          for (const key of queue) await copyOne(key, { from, to }, copied);
        }),
      );
    },
    /** Answers the existing sources of documents. Further copies stay, which another backup may need. */
    end: () => {
      const sources = wanted();
      const missing = sources.filter((key) => !copied.has(key));
      return {
        documents: ofDocument.size,
        sources: sources.flatMap((key) => copied.get(key) ?? []),
        missing,
      };
    },
  };
}

/** Leaves out a source that is not there: its document may have been deleted meanwhile. */
async function copyOne(key: string, { from, to }: Storages, copied: Map<string, Part>): Promise<void> {
  try {
    copied.set(key, { name: key, ...(await putHashed(to, placeOfSource(key), await from.open(key))) });
  } catch (error) {
    if (!(error instanceof MissingObjectError)) throw error;
  }
}
