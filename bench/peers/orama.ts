import { stopWords } from '../../src/shared/text/words.js';
import { K, type MakeEngine } from './engines.js';
import { loadPeer } from './find-peers.js';

type Database = object;

interface Results {
  readonly hits: readonly { readonly id: string; readonly score: number }[];
}

/** The used part of the package. */
interface OramaPackage {
  create(options: {
    readonly schema: Readonly<Record<string, string>>;
    readonly components: { readonly tokenizer: { readonly stopWords: readonly string[] } };
  }): Database;
  insert(
    database: Database,
    document: { readonly id: string; readonly text: string },
  ): Promise<string> | string;
  search(
    database: Database,
    asked: { readonly term: string; readonly limit: number; readonly properties: readonly string[] },
  ): Promise<Results> | Results;
}

/** Orama as it comes (BM25, any of the words), without the stop words that we leave out, which makes it faster. */
export const makeOrama: MakeEngine<string> = () => {
  // @NOTE the package has no types where it is not installed
  const orama = loadPeer('@orama/orama') as OramaPackage;
  const components = { tokenizer: { stopWords: [...stopWords] } };
  const database = orama.create({ schema: { text: 'string' }, components });
  let size = 0;
  return {
    add: async (texts) => {
      for (const text of texts) await orama.insert(database, { id: String(size++), text });
    },
    search: async (term) => {
      const { hits } = await orama.search(database, { term, limit: K, properties: ['text'] });
      return hits.map(({ id, score }) => ({ place: Number(id), score }));
    },
  };
};
