import { round } from '../support/client.js';
import { ndcgAt10, recallAt, type Collection } from '../support/collections.js';

export interface Scored {
  /** The id of the document. */
  readonly id: string;
  readonly score: number;
}

/**
 * Adds up the quality of answers. Documents of equal score come in an order that says nothing (that of random ids, or of a
 * file): nDCG@10 is what it is on average over all their orders (McSherry and Najork 2008), and `range` goes from the worst
 * to the best of them.
 */
export function createQualitySums() {
  const sums = { ndcg: 0, lowest: 0, highest: 0, recall: 0 };
  let count = 0;
  return {
    /** @param found best first; a document counts where it is found first */
    add: (found: readonly Scored[], wanted: ReadonlySet<string>) => {
      const seen = new Set<string>();
      const documents = found.filter(({ id }) => !seen.has(id) && seen.add(id));
      const inOrder = (sign: 1 | -1) => {
        const gain = ({ id }: Scored) => sign * Number(wanted.has(id));
        return documents.toSorted((a, b) => b.score - a.score || gain(b) - gain(a)).map(({ id }) => id);
      };
      count += 1;
      sums.ndcg += expectedNdcgAt10(documents, wanted);
      sums.highest += ndcgAt10(inOrder(1), wanted);
      sums.lowest += ndcgAt10(inOrder(-1), wanted);
      sums.recall += recallAt(
        100,
        documents.map(({ id }) => id),
        wanted,
      );
    },
    means: () => {
      const mean = (sum: number) => round(sum / count, 4);
      const [lowest, highest] = [mean(sums.lowest), mean(sums.highest)];
      return {
        ndcg10: mean(sums.ndcg),
        range: lowest === highest ? '' : `${String(lowest)}–${String(highest)}`,
        recall100: mean(sums.recall),
      };
    },
  };
}

/** Every document of a group of equal scores takes each of the group's places equally often. */
function expectedNdcgAt10(documents: readonly Scored[], wanted: ReadonlySet<string>): number {
  const discount = (place: number) => (place < 10 ? 1 / Math.log2(place + 2) : 0);
  const sumOver = (first: number, count: number) =>
    Array.from({ length: count }, (_, at) => discount(first + at)).reduce((sum, each) => sum + each, 0);
  const scores = [...new Set(documents.map(({ score }) => score))].sort((a, b) => b - a);
  let [first, gain] = [0, 0];
  for (const score of scores) {
    const group = documents.filter((each) => each.score === score);
    const relevant = group.filter(({ id }) => wanted.has(id)).length;
    gain += (relevant / group.length) * sumOver(first, group.length);
    first += group.length;
  }
  return gain / sumOver(0, Math.min(10, wanted.size));
}

const ENGLISH = /\b(?:the|of|and|to)\b/iu;

/** Tells whether half of the documents or of the queries have one of the commonest English words. */
export function isEnglish({ documents, queries }: Collection): boolean {
  const share = (texts: readonly { readonly text: string }[]) =>
    texts.filter(({ text }) => ENGLISH.test(text)).length / texts.length;
  return share(documents) >= 0.5 || share(queries) >= 0.5;
}
