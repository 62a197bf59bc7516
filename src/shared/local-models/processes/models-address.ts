import type { z } from 'zod';
import type { models as section } from '../../settings/sections/models.js';

/** The address of a process with local models. */
export interface ModelsAddress {
  /** Without a slash at its end. */
  readonly url: string;
  /** Null where none is asked for. */
  readonly token: string | null;
}

/** All processes with local models, in the order of the settings. Each has the same files. */
export type ModelsAddresses = readonly [ModelsAddress, ...ModelsAddress[]];

export function modelsAddressesOf({ models }: { readonly models: z.infer<typeof section> }): ModelsAddresses {
  const token = models.token === '' ? null : models.token;
  const host = models.host.includes(':') ? `[${models.host}]` : models.host;
  const own = `http://${host}:${String(models.port)}`;
  const urls = new Set(models.urls.map((url) => url.replace(/\/$/, '')));
  const [first = { url: own, token }, ...others] = [...urls].map((url) => ({ url, token }));
  return [first, ...others];
}
