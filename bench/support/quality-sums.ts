import { round } from './client.js';
import { ndcgAt10, recallAt, type Collection } from './collections.js';

export interface Scored {
  /** Of the document. */
  readonly id: string;
  readonly score: number;
}

/** Adds up the quality of answers, and by how much the order of documents with equal scores may change it. */
export function createQualitySums() {
  const sums = { ndcg: 0, lowest: 0, highest: 0, recall: 0 };
  let count = 0;
  return {
    /** @param found best first; a document counts where it is found first */
    add: (found: readonly Scored[], wanted: ReadonlySet<string>) => {
      const seen = new Set<string>();
      const documents = found.filter(({ id }) => !seen.has(id) && seen.add(id));
      const ids = documents.map(({ id }) => id);
      const tied = (sign: 1 | -1) =>
        documents
          .toSorted(
            (a, b) => b.score - a.score || sign * (Number(wanted.has(b.id)) - Number(wanted.has(a.id))),
          )
          .map(({ id }) => id);
      count += 1;
      sums.ndcg += ndcgAt10(ids, wanted);
      sums.highest += ndcgAt10(tied(1), wanted);
      sums.lowest += ndcgAt10(tied(-1), wanted);
      sums.recall += recallAt(100, ids, wanted);
    },
    means: () => {
      const mean = (sum: number) => round(sum / count, 4);
      return {
        ndcg10: mean(sums.ndcg),
        range: `${String(mean(sums.lowest))}–${String(mean(sums.highest))}`,
        recall100: mean(sums.recall),
      };
    },
  };
}

const ENGLISH = /\b(?:the|of|and|to)\b/iu;

/** Whether half of the documents or of the queries have one of the commonest English words. */
export function isEnglish({ documents, queries }: Collection): boolean {
  const share = (texts: readonly { readonly text: string }[]) =>
    texts.filter(({ text }) => ENGLISH.test(text)).length / texts.length;
  return share(documents) >= 0.5 || share(queries) >= 0.5;
}
