import type { LlamaContextSequence, Token } from 'node-llama-cpp';

/** The state of a model after it has read a text, in a file. */
export interface SavedState {
  readonly tokens: readonly Token[];
  /** Replaces the content of the sequence. When that fails, the sequence holds nothing, and the state is removed. */
  load(sequence: LlamaContextSequence): Promise<void>;
}

/** @param remove is told why the file cannot be loaded, and removes it */
export async function loadState(
  path: string,
  sequence: LlamaContextSequence,
  remove: (error: unknown) => Promise<void>,
): Promise<void> {
  try {
    await sequence.loadStateFromFile(path, { acceptRisk: true });
  } catch (error) {
    // The text is read anew. The engine gives one vague reason for a file that is cut off and one of another shape.
    await remove(error);
    await sequence.clearHistory();
  }
}
