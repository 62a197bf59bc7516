import { toError } from '../errors.js';

/** The engine is not there: not installed, or not built for this platform. */
export class NoEngineError extends Error {
  override readonly name = 'NoEngineError';
}

/** @throws NoEngineError that names the package to install */
export function importEngine() {
  return import('node-llama-cpp').catch((error: unknown) => {
    throw new NoEngineError(
      'the package node-llama-cpp is not installed, which runs local models; install it with: npm ci',
      { cause: toError(error) },
    );
  });
}
