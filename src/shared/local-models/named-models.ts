import { placeOf, modelsInUse } from '../models/in-use/models-in-use.js';
import { ROLES, type Role } from '../models/in-use/role.js';
import type { Settings } from '../settings/schema.js';

export interface NamedModel {
  readonly name: string;
  /** The setting that makes use of it. */
  readonly usedBy: Role;
}

/** The model files that the settings make use of. */
export function namedModels(settings: Settings): NamedModel[] {
  const used = modelsInUse(settings);
  return ROLES.flatMap((usedBy) => {
    const { model } = used[usedBy];
    return placeOf(used[usedBy])?.at === 'models-process' && model !== null ? [{ name: model, usedBy }] : [];
  });
}
