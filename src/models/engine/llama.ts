import type { Llama } from 'node-llama-cpp';
import type { Logger } from '../../shared/observability/logger.js';
import { toError } from '../../shared/errors.js';
import { importEngine, NoEngineError } from '../../shared/local-models/import-engine.js';

export interface LlamaOptions {
  /** Threads for all models together; 0 for one a core. */
  readonly threads: number;
  readonly logger: Logger;
}

/**
 * Loads llama.cpp as its packages bring it. Nothing is built or downloaded, and only the processor is used.
 * @throws NoEngineError that names the package to install
 */
export async function openLlama({ threads, logger }: LlamaOptions): Promise<Llama> {
  const { getLlama, LlamaLogLevel } = await importEngine();
  return getLlama({
    gpu: false,
    build: 'never',
    skipDownload: true,
    progressLogs: false,
    ...(threads > 0 ? { maxThreads: threads } : {}),
    logLevel: LlamaLogLevel.warn,
    // Its messages are about files and memory, never about texts.
    logger: (level, message) => {
      const text = message.trim();
      if (text !== '') logger.debug({ level, message: text }, 'llama.cpp');
    },
  }).catch((error: unknown) => {
    throw new NoEngineError(
      'the package node-llama-cpp has no program for this platform: it runs on Linux (glibc), macOS and Windows, on x64 and arm64',
      { cause: toError(error) },
    );
  });
}
