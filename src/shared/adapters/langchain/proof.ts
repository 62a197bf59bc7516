import { at } from '../../at.js';
import { IngestError, UnavailableError } from '../../errors.js';
import { loadOnce, shareResult } from '../../tools/coalesce-runs.js';
import { BadReplyError } from '../../provider-http/bad-reply-error.js';
import { cosine } from './vectors.js';

/** The questions to a class before its vectors are used. */
export interface Probes {
  readonly embedDocuments: (texts: readonly string[]) => Promise<readonly Float32Array[]>;
  readonly embedQuery: (text: string) => Promise<Float32Array>;
}

export interface Proof {
  /** The length of the vectors. Asks until it was shown once. @throws UnavailableError */
  ready(): Promise<number>;
  /** Asks once more, though not often, after a text was refused. @throws UnavailableError when any text is refused */
  again(): Promise<number>;
}

/** Two texts that no model takes for the same. */
const PROBES: readonly [string, string] = ['The moon orbits the earth.', 'Bread is baked in ovens.'];
/** Providers compute a text of a batch and the same text alone with small differences. */
const SAME = 0.99;
const RETRY_SECONDS = 60;
const AGAIN_MILLISECONDS = 5_000;

/** Lets a class show that it keeps the order of its texts, before anything else is asked of it. */
export function createProof(component: string, probes: Probes): Proof {
  const prove = () =>
    proveOrder(probes).catch((error: unknown) => {
      // The texts are ours: no document is at fault.
      const isWrong = error instanceof IngestError || error instanceof BadReplyError;
      throw isWrong
        ? new UnavailableError(component, { cause: error, retryAfterSeconds: RETRY_SECONDS })
        : error;
    });
  return { ready: loadOnce(prove), again: shareResult(AGAIN_MILLISECONDS, prove) };
}

/**
 * Embeds two texts together and each alone. LangChain tells no indexes, so that nothing else shows whether a class keeps
 * the order of its texts. @returns the length of the vectors @throws BadReplyError when they do not agree
 */
async function proveOrder({ embedDocuments, embedQuery }: Probes): Promise<number> {
  const [first, second] = PROBES;
  const together = await embedDocuments([first, second]);
  const alone = [...(await embedDocuments([first])), ...(await embedDocuments([second]))];
  const all = [...together, ...alone, await embedQuery(first)];
  const lengths = new Set(all.map(({ length }) => length));
  if (lengths.size > 1) throw new BadReplyError(`has vectors of several lengths: ${[...lengths].join(', ')}`);
  if (isSame(at(alone, 0), at(alone, 1))) throw new BadReplyError('has the same vector for different texts');
  if (!isSame(at(together, 0), at(alone, 0)) || !isSame(at(together, 1), at(alone, 1))) {
    throw new BadReplyError('has other vectors for two texts together than for each alone, or another order');
  }
  return at(together, 0).length;
}

function isSame(left: Float32Array, right: Float32Array): boolean {
  return cosine(left, right) >= SAME;
}
