import type { Principal } from '../../../shared/access/access.js';
import { ImpossibleError, IngestError } from '../../../shared/errors.js';
import { createTurns } from '../../../shared/fair-scheduling/turns.js';
import type { Embedding } from '../../../shared/models/embedding.js';
import { countLongText, type CountTokens } from '../../../shared/text/token-budget.js';
import { nextSlice } from '../../../shared/tools/time-slices.js';
import type { AnswerMemory } from '../answer-memory/answer-memory.js';
import type { AccountedRequest, Accounting } from '../usage-accounting.js';

export interface EmbeddingRequest {
  readonly principal: Principal;
  readonly startedAtMs: number;
  readonly signal: AbortSignal;
  readonly texts: readonly string[];
}

export interface EmbeddedTexts {
  /** One for each text, in order. */
  readonly vectors: readonly Float32Array[];
  /** Tokens that the provider billed, or else our own count. */
  readonly tokens: number;
}

/** Makes vectors of texts for callers, by the model of the service. */
export interface Embeddings {
  /** The name of the model. */
  readonly model: string;
  /** The length of its vectors. */
  dimensions(signal: AbortSignal): Promise<number>;
  /**
   * Embeds texts as those of documents are, and calls `use` while there is memory for the vectors and an answer of them.
   * @throws UnavailableError when the provider cannot answer; ImpossibleError when it refuses a text
   */
  embed<Result>(request: EmbeddingRequest, use: (embedded: EmbeddedTexts) => Result): Promise<Result>;
}

interface Dependencies {
  readonly embedding: Embedding;
  readonly accounting: Accounting;
  readonly memory: AnswerMemory;
  readonly countTokens: CountTokens;
  /** True where vectors are made in this process, on its event loop. */
  readonly isInThisProcess: boolean;
}

/** Groups of texts that this process has under way at once, and one caller of them while others have some. */
const MAX_AT_ONCE = 8;
const MAX_PER_CALLER = 2;
/** The characters of a group: 8,192 take this process some milliseconds, and a provider takes as many texts at once as it can. */
const GROUP_CHARACTERS = { here: 8_192, elsewhere: 262_144 };
const GROUP_TEXTS = 256;
/** Bytes for each number of a vector: in the vector, as a number of a list, and written in decimals. */
const BYTES_OF_NUMBER = 32;

export function createEmbeddings(parts: Dependencies): Embeddings {
  const { embedding, accounting, memory } = parts;
  const turns = createTurns(MAX_AT_ONCE, { maxPerCaller: MAX_PER_CALLER, name: 'embedder' });
  const embedGroup = (request: EmbeddingRequest, texts: readonly string[]) =>
    turns.run(() => embedInTurn(parts, texts, request.signal), {
      by: request.principal.id,
      signal: request.signal,
    });
  return {
    model: embedding.model,
    dimensions: (signal) => embedding.dimensions({ signal }),
    embed: (request, use) =>
      accounting.run(accounted(request), async () => {
        const { principal, signal, texts } = request;
        const bytes = BYTES_OF_NUMBER * (await embedding.dimensions({ signal })) * texts.length;
        const lease = await memory.reserve({ callerId: principal.id, bytes, signal });
        try {
          const vectors: Float32Array[] = [];
          let tokens = 0;
          for (const group of groupsOf(texts, parts)) {
            const embedded = await embedGroup(request, group);
            vectors.push(...embedded.vectors);
            tokens += embedded.tokens;
          }
          return { result: use({ vectors, tokens }), tokens };
        } finally {
          lease.release();
        }
      }),
  };
}

async function embedInTurn(
  { embedding, countTokens }: Dependencies,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<EmbeddedTexts> {
  const measured: { readonly text: string; readonly tokens: number }[] = [];
  for (const text of texts) {
    await nextSlice();
    measured.push({ text, tokens: await countLongText(text, countTokens) });
  }
  try {
    return await embedding.embedDocuments(measured, { signal });
  } catch (error) {
    if (!(error instanceof IngestError)) throw error;
    throw new ImpossibleError('The embedding model refuses one of the texts', { cause: error });
  }
}

function* groupsOf(
  texts: readonly string[],
  { isInThisProcess }: Pick<Dependencies, 'isInThisProcess'>,
): Generator<readonly string[]> {
  const most = isInThisProcess ? GROUP_CHARACTERS.here : GROUP_CHARACTERS.elsewhere;
  let [group, characters]: [string[], number] = [[], 0];
  for (const text of texts) {
    if (group.length > 0 && (characters + text.length > most || group.length === GROUP_TEXTS)) {
      yield group;
      [group, characters] = [[], 0];
    }
    group.push(text);
    characters += text.length;
  }
  if (group.length > 0) yield group;
}

function accounted({ principal, startedAtMs, signal, texts }: EmbeddingRequest): AccountedRequest {
  const metadata = { texts: texts.length };
  return { operation: 'embed', userId: principal.id, startedAtMs, signal, metadata };
}
