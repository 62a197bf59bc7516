import { z } from 'zod';

/** Options for the constructor of a provider's class. */
export type ConstructorOptions = Readonly<Record<string, unknown>>;

export const optionsSchema = z.record(z.string(), z.unknown());
/** Reads the JSON of `embedding.options` and `completion.options`. @returns null when it is no object */
export function parseOptions(text: string): ConstructorOptions | null {
  try {
    return optionsSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
