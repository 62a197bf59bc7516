import type { ConstructorOptions } from './read-options.js';

/** Settings that come only from the environment. */
export interface EnvironmentSettings {
  /** Absolute path of the folder for all data that is kept. */
  readonly dataDirectory: string;
  /** Null in dev mode when none is set; `loadOrCreateSecret` makes one then. */
  readonly jwtSecretKey: string | null;
  readonly jwtSecretKeyPrevious: string | null;
  readonly localUriPassword: string | null;
  readonly openaiApiKey: string | null;
  readonly rerankerApiKey: string | null;
  /** `embedding.options` and `completion.options`, with the values that they name of the environment. Never to be shown. */
  readonly constructorOptions: {
    readonly embedding: ConstructorOptions;
    readonly completion: ConstructorOptions;
  };
}
