import { stopWords } from '../../src/shared/text/words.js';
import { K, type MakeEngine } from './engines.js';
import { loadPeer } from './find-peers.js';

/** The used part of the package. */
interface MiniSearchPackage {
  readonly default: new (options: {
    readonly fields: readonly string[];
    readonly processTerm: (term: string) => string | null;
  }) => {
    add(document: { readonly id: number; readonly text: string }): void;
    search(query: string): readonly { readonly id: number; readonly score: number }[];
  };
}

/** MiniSearch as it comes (BM25+, any of the words), without the stop words that we leave out, which makes it faster. */
export const makeMiniSearch: MakeEngine<string> = () => {
  // @NOTE the package has no types where it is not installed
  const loaded = loadPeer('minisearch') as MiniSearchPackage | MiniSearchPackage['default'];
  const MiniSearch = 'default' in loaded ? loaded.default : loaded;
  const processTerm = (term: string) => {
    const lower = term.toLowerCase();
    return stopWords.has(lower) ? null : lower;
  };
  const index = new MiniSearch({ fields: ['text'], processTerm });
  let size = 0;
  return {
    add: (texts) => {
      for (const text of texts) index.add({ id: size++, text });
    },
    search: (query) =>
      index
        .search(query)
        .slice(0, K)
        .map(({ id, score }) => ({ place: id, score })),
  };
};
