import type { Settings } from '../settings/schema.js';

/** Where the process with local models answers. */
export interface ModelsAddress {
  /** Without a slash at its end. */
  readonly url: string;
  /** Null where none is asked for. */
  readonly token: string | null;
}

export function modelsAddressOf({ models }: Pick<Settings, 'models'>): ModelsAddress {
  const host = models.host.includes(':') ? `[${models.host}]` : models.host;
  const url = models.url === '' ? `http://${host}:${String(models.port)}` : models.url.replace(/\/$/, '');
  return { url, token: models.token === '' ? null : models.token };
}
