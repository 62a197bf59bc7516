import type { CompleterDescriptor, EmbedderDescriptor } from '../descriptor.js';

const common = {
  name: 'builtin',
  place: { at: 'this-process' },
  inUse: () => ({ model: 'builtin', address: null }),
} as const;

export const builtinEmbedder: EmbedderDescriptor<'builtin'> = {
  ...common,
  isOfTerms: true,
  create: async () => {
    const { createBuiltinEmbedder } = await import('./embedder.js');
    return createBuiltinEmbedder();
  },
};

export const builtinCompleter: CompleterDescriptor<'builtin'> = {
  ...common,
  create: async ({ completion: { contextWindow } }) => {
    const { createBuiltinCompleter } = await import('./completer.js');
    return createBuiltinCompleter({ contextWindow });
  },
};
