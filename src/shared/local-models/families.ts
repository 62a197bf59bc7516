/** The texts that a model wants before a query and before a passage, so that the two come near each other. */
export interface Prefixes {
  readonly query: string;
  readonly document: string;
}

const NONE: Prefixes = { query: '', document: '' };

/** Families that were trained with prefixes, by their published instructions. The first that fits a name counts. */
const FAMILIES: readonly (readonly [RegExp, Prefixes])[] = [
  // intfloat/e5-*, multilingual-e5-*; the instruct ones want another form for queries and none for passages.
  [
    /\be5-(?:\w{1,20}-){0,4}instruct\b/,
    {
      query: 'Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ',
      document: '',
    },
  ],
  [/\be5-/, { query: 'query: ', document: 'passage: ' }],
  // BAAI/bge-*-en and -zh of version 1 and 1.5; bge-m3 wants none.
  [/\bbge-m3\b/, NONE],
  [
    /\bbge-(?:small|base|large)-en\b/,
    { query: 'Represent this sentence for searching relevant passages: ', document: '' },
  ],
  [/\bbge-(?:small|base|large)-zh\b/, { query: '为这个句子生成表示以用于检索相关文章：', document: '' }],
  // nomic-ai/nomic-embed-text-v1, v1.5, v2-moe
  [/\bnomic-embed\b/, { query: 'search_query: ', document: 'search_document: ' }],
  // google/embeddinggemma
  [/\bembeddinggemma\b/, { query: 'task: search result | query: ', document: 'title: none | text: ' }],
  // Alibaba-NLP/gte-Qwen2-*-instruct and Qwen/Qwen3-Embedding-*
  [
    /\bgte-qwen|\bqwen3-embedding\b/,
    {
      query: 'Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:',
      document: '',
    },
  ],
  // Snowflake/snowflake-arctic-embed-*-v2.0, and the first version of it, and mixedbread-ai/mxbai-embed-*
  [/\barctic-embed-\w+-v2/, { query: 'query: ', document: '' }],
  [
    /\bmxbai-embed\b|\barctic-embed-(?:xs|s|m|l)\b/,
    { query: 'Represent this sentence for searching relevant passages: ', document: '' },
  ],
];

/** The prefixes of the family that a file name or a model's own name belongs to; none for families that are not known. */
export function prefixesOf(name: string): Prefixes {
  const plain = name.toLowerCase().replaceAll('_', '-').replaceAll(' ', '-');
  return FAMILIES.find(([pattern]) => pattern.test(plain))?.[1] ?? NONE;
}

interface ChosenPrefixes {
  readonly queryPrefix: string;
  readonly documentPrefix: string;
}

/** Returns the prefixes of the settings, or of the family of the model. */
export function prefixesFor({ queryPrefix, documentPrefix }: ChosenPrefixes, modelName: string): Prefixes {
  const known = prefixesOf(modelName);
  return {
    query: queryPrefix === 'auto' ? known.query : queryPrefix,
    document: documentPrefix === 'auto' ? known.document : documentPrefix,
  };
}
