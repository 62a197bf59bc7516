/** A model that is known to work, small enough for a processor alone. */
export interface RecommendedModel {
  /** The argument of `quire models pull`. */
  readonly source: string;
  /** The name that the file gets in the models folder. */
  readonly file: string;
  readonly megabytes: number;
}

export const MODEL_LANGUAGES = ['english', 'other'] as const;
export type ModelLanguage = (typeof MODEL_LANGUAGES)[number];

/** The small embedding models that are pulled unless another is named, by the language of the documents. */
export const recommendedEmbedding: Readonly<Record<ModelLanguage, RecommendedModel>> = {
  english: {
    source: 'hf:ChristianAzinn/bge-small-en-v1.5-gguf:bge-small-en-v1.5.Q8_0.gguf',
    file: 'bge-small-en-v1.5.Q8_0.gguf',
    megabytes: 37,
  },
  other: {
    source: 'hf:cstr/multilingual-e5-small-GGUF:multilingual-e5-small-q8_0.gguf',
    file: 'multilingual-e5-small-q8_0.gguf',
    megabytes: 130,
  },
};

/** The file that `embedder = "local"` means. */
export function embeddingFileOf({
  embedding,
  models,
}: {
  readonly embedding: { readonly model: string };
  readonly models: { readonly language: ModelLanguage };
}): string {
  return embedding.model === '' ? recommendedEmbedding[models.language].file : embedding.model;
}
