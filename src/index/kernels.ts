import { loadPostingsKernel, type MakePostingsKernel } from './postings/kernel.js';
import { loadKernel, type MakeKernel } from './vectors/kernel.js';

/** The compiled code: kernels that scan vectors, and kernels that add up scores from postings. */
export interface Kernels {
  readonly vectors: MakeKernel;
  readonly postings: MakePostingsKernel;
}

export async function loadKernels(): Promise<Kernels> {
  const [vectors, postings] = await Promise.all([loadKernel(), loadPostingsKernel()]);
  return { vectors, postings };
}
