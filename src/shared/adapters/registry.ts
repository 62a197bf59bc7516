import { builtinCompleter, builtinEmbedder } from './builtin/descriptor.js';
import { diskStorage } from './disk-storage/descriptor.js';
import { httpReranker } from './http-reranker/descriptor.js';
import { langchainCompleter, langchainEmbedder } from './langchain/descriptor.js';
import { localCompleter, localEmbedder, localReranker } from './local-models/descriptor.js';
import { openaiCompleter, openaiEmbedder } from './openai/descriptor.js';
import { s3Storage } from './s3-storage/descriptor.js';

/** All adapters that a setting can choose, in the order in which the setting lists them and their sections follow each other. */
export const embedders = [builtinEmbedder, openaiEmbedder, langchainEmbedder, localEmbedder] as const;
export const completers = [builtinCompleter, openaiCompleter, langchainCompleter, localCompleter] as const;
export const rerankers = [httpReranker, localReranker] as const;
export const objectStorages = [diskStorage, s3Storage] as const;
