import type { MemoryIndex, MemoryIndexOptions } from './memory-index.js';
import type { AppTypes } from './tables/app.js';

type CreateMemoryIndex = <App extends AppTypes>(
  options: Omit<MemoryIndexOptions<App>, 'kernels'>,
) => MemoryIndex<App>;

/**
 * Loads the function that makes an index, and its compiled kernels: most processes only score or pack terms, and do
 * without.
 */
export async function loadIndex(): Promise<CreateMemoryIndex> {
  const [{ createMemoryIndex }, { loadKernels }] = await Promise.all([
    import('./memory-index.js'),
    import('./kernels.js'),
  ]);
  const kernels = await loadKernels();
  return (options) => createMemoryIndex({ ...options, kernels });
}
