import { BaseDocumentLoader } from '@langchain/core/document_loaders/base';
import { Document, type DocumentInput } from '@langchain/core/documents';
import { BaseRetriever, type BaseRetrieverInput } from '@langchain/core/retrievers';
import type { BodyOf, CallOptions, components, ListOptions, Quire } from 'quire-client';

type Search = BodyOf<'POST /retrieve/chunks'>;

export interface QuireRetrieverInput extends BaseRetrieverInput {
  readonly quire: Quire;
  /** How many chunks are found at most: 4. */
  readonly k?: number;
  readonly filters?: Search['filters'];
  /** Chunks with a lower score, of 0 to 1, are left out. */
  readonly minScore?: number;
  /** Everything else that a search takes, such as `ranking` and `rerank`. */
  readonly search?: Omit<Search, 'query' | 'k' | 'filters' | 'min_score'>;
}

/** Finds chunks by Quire's search. What the caller of `quire` may not read is not found. */
export class QuireRetriever extends BaseRetriever {
  static override lc_name(): string {
    return 'QuireRetriever';
  }
  override lc_namespace = ['quire', 'retrievers'];
  readonly #quire: Quire;
  readonly #search: Omit<Search, 'query'>;

  constructor({ quire, k, filters, minScore, search, ...others }: QuireRetrieverInput) {
    super(others);
    this.#quire = quire;
    this.#search = { ...search, k: k ?? null, filters: filters ?? null, min_score: minScore ?? null };
  }

  override async _getRelevantDocuments(query: string): Promise<Document[]> {
    const found = await this.#quire.search.chunks({ ...this.#search, query });
    return found.map((chunk) => toDocument(chunk, chunk));
  }
}

const MAX_PAGE = 100;

export interface QuireLoaderInput {
  readonly quire: Quire;
  /** Which documents are loaded: `filters`, `q`, `limit` and so on, as in `quire.documents.list()`. */
  readonly list?: ListOptions;
}

/** Loads the chunks of documents out of Quire, in their order. Chunks that follow each other overlap. */
export class QuireLoader extends BaseDocumentLoader {
  readonly #input: QuireLoaderInput;

  constructor(input: QuireLoaderInput) {
    super();
    this.#input = input;
  }

  async load(): Promise<Document[]> {
    const loaded: Document[] = [];
    for await (const document of this.lazyLoad()) loaded.push(document);
    return loaded;
  }

  /** The same, one by one. */
  async *lazyLoad(): AsyncGenerator<Document> {
    const { quire, list = {} } = this.#input;
    for await (const { external_id: id, filename, metadata } of quire.documents.list(list)) {
      const about = { document_id: id, filename, metadata };
      for (let skip = 0, isLast = false; !isLast; skip += MAX_PAGE) {
        const chunks = await quire.documents.chunks(id, { skip, limit: MAX_PAGE });
        for (const chunk of chunks) yield toDocument(chunk, about);
        isLast = chunks.length < MAX_PAGE;
      }
    }
  }
}

const MAX_BATCH = 100;

/**
 * Puts documents of LangChain into Quire, each as a text with its metadata.
 * @returns their ids in Quire, in the same order
 * @throws Error that names the documents which Quire refused; the others are there
 */
export async function addDocuments(
  quire: Quire,
  documents: readonly DocumentInput[],
  options: CallOptions & Omit<BodyOf<'POST /ingest/batch'>, 'documents'> = {},
): Promise<string[]> {
  const ids: string[] = [];
  const refused: string[] = [];
  for (let from = 0; from < documents.length; from += MAX_BATCH) {
    const items = documents
      .slice(from, from + MAX_BATCH)
      .map(({ pageContent, metadata = {} }) => ({ content: pageContent, metadata: { ...metadata } }));
    const { value: outcomes } = await quire.ingest.batch(items, options);
    for (const outcome of outcomes) {
      if (outcome.error !== undefined) refused.push(`${String(from + outcome.index)}: ${outcome.error.msg}`);
      if ('document_id' in outcome) ids.push(outcome.document_id);
    }
  }
  if (refused.length > 0) throw new Error(`Quire refused documents (${refused.join('; ')})`);
  return ids;
}

type Schemas = components['schemas'];

/** A chunk, as a search or the list of a document's chunks has it. */
type Chunk = Pick<Schemas['Chunk'], 'content' | 'chunk_number' | 'location' | 'section'>;

/**
 * Makes a document of LangChain. Its metadata are those of the document in Quire and, before them where names are the same,
 * all that Quire says of the chunk: `document_id`, `chunk_number`, `score`, `section`, `url` and so on, with the first
 * `page`, and the file as `source`.
 */
function toDocument(
  { content, ...facts }: Chunk,
  {
    metadata,
    ...about
  }: { readonly document_id: string; readonly filename: string | null } & Pick<
    Schemas['ChunkResult'],
    'metadata'
  >,
): Document {
  const page = facts.location?.pages?.first;
  const told = { ...about, ...facts, source: about.filename, page };
  const known = Object.entries(told).filter(([, value]) => value !== null && value !== undefined);
  return new Document({
    pageContent: content,
    metadata: { ...metadata, ...Object.fromEntries(known) },
    id: `${about.document_id}-${String(facts.chunk_number)}`,
  });
}
