import { HttpError } from '../../http/http-error.js';
import type { Principal } from '../../../shared/access/access.js';
import { EVERYTHING, findScope, type Scope, type ScopeParts } from '../scope.js';

/** The model that answers from all documents that the caller may read. */
export const ALL_MODEL = 'quire';
const CACHE_PREFIX = `${ALL_MODEL}/cache/`;

/** The subject of a model: documents that are searched, or a named cache. */
export type ModelSubject =
  { readonly type: 'documents'; readonly scope: Scope } | { readonly type: 'cache'; readonly name: string };

export const cacheModel = (name: string): string => `${CACHE_PREFIX}${name}`;

/** Resolves the name of a model that answers. @throws HttpError 404 */
export async function resolveModel(
  parts: ScopeParts,
  model: string,
  principal: Principal,
): Promise<ModelSubject> {
  if (model === ALL_MODEL) return { type: 'documents', scope: EVERYTHING };
  if (model.startsWith(CACHE_PREFIX)) return { type: 'cache', name: model.slice(CACHE_PREFIX.length) };
  const isScope = model.startsWith(`${ALL_MODEL}/`);
  const scope = isScope ? await findScope(parts, model.slice(ALL_MODEL.length + 1), principal) : null;
  if (!scope)
    throw unknownModel(
      model,
      `${ALL_MODEL}, ${ALL_MODEL}/<collection> and ${CACHE_PREFIX}<name> answer questions`,
    );
  return { type: 'documents', scope };
}

/** The longest name that an error repeats. */
const MAX_SHOWN = 128;

export function unknownModel(model: string, advice: string): HttpError {
  const msg = `The model '${model.slice(0, MAX_SHOWN)}' does not exist: ${advice}, and GET /v1/models lists all`;
  return new HttpError(404, [{ loc: ['body', 'model'], msg, type: 'model_not_found' }]);
}
