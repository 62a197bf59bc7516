import type { Json } from './document.js';
import { isPlainObject } from './is-plain-object.js';

/** Changes single members of a JSON value: null removes one, objects are merged, all else replaces (RFC 7396). */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isPlainObject(patch)) return patch;
  // A map keeps the key `__proto__` apart from the prototype.
  const merged = new Map<string, Json>(isPlainObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}
