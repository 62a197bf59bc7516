import type { ModelDescription } from '../../shared/local-models/description.js';
import type { Fingerprint, Fingerprints } from '../../shared/local-models/fingerprints.js';
import {
  findModelFile,
  isModelName,
  listModelFiles,
  MODEL_NAME_RULE,
  type ModelFile,
} from '../../shared/local-models/model-files.js';
import { ModelError } from './model-error.js';
import { readModelHeader, windowOf, type ModelHeader } from './model-header.js';

/** A model file with the fingerprint that tells its content. */
export interface KnownFile {
  readonly file: ModelFile;
  readonly fingerprint: Fingerprint;
}

/** The files of the models folder. */
export interface ModelCatalog {
  /**
   * @param id a file name, or one with `@` and the file's fingerprint: then the file must be that very one
   * @throws ModelError `model_not_found` or `model_changed`
   */
  find(id: string): Promise<KnownFile>;
  /** Tells whether the file of this name is another one by now, or gone. */
  wasReplaced(known: KnownFile): Promise<boolean>;
  /** @throws ModelError as `find`, and `invalid_model` for a file that cannot be read */
  describe(id: string): Promise<ModelDescription>;
  /** Lists the models. A file that cannot be read is left out. */
  list(): Promise<ModelDescription[]>;
}

interface CatalogOptions {
  readonly directory: string;
  readonly fingerprints: Fingerprints;
  /** The largest window of a model, in tokens. */
  readonly windowTokens: number;
}

export function createModelCatalog({ directory, fingerprints, windowTokens }: CatalogOptions): ModelCatalog {
  const find = async (id: string): Promise<KnownFile> => {
    const [name = '', wanted] = id.split('@');
    if (!isModelName(name)) throw notFound(`model must be ${MODEL_NAME_RULE}`);
    const file = await findModelFile(directory, name);
    if (!file) throw notFound('the models folder has no file of this name');
    const fingerprint = await fingerprints.of(file);
    if (wanted === undefined || wanted === fingerprint) return { file, fingerprint };
    throw new ModelError('model_changed', 'the model file is another one than was asked for', {
      field: 'model',
    });
  };
  const describe = rememberLatest(async (known) =>
    descriptionOf(known, await readModelHeader(known.file), windowTokens),
  );
  return {
    find,
    wasReplaced: async ({ file, fingerprint }) => {
      const now = await findModelFile(directory, file.name);
      return now === null || (await fingerprints.of(now)) !== fingerprint;
    },
    describe: async (id) => describe(await find(id)),
    list: async () => {
      const described = await Promise.all(
        (await listModelFiles(directory)).map(async (file) =>
          describe({ file, fingerprint: await fingerprints.of(file) }).catch(nullForUnreadable),
        ),
      );
      return described.filter((description) => description !== null);
    },
  };
}

/**
 * Describes each content of a file once, including its faults. The header of a real model takes some tenths of a second, in
 * which the process answers nobody else, and every caller who makes a cache may ask for one.
 */
function rememberLatest(
  describe: (known: KnownFile) => Promise<ModelDescription>,
): (known: KnownFile) => Promise<ModelDescription> {
  const latest = new Map<
    string,
    { readonly fingerprint: Fingerprint; readonly description: Promise<ModelDescription> }
  >();
  return (known) => {
    const { file, fingerprint } = known;
    const before = latest.get(file.name);
    if (before?.fingerprint === fingerprint) return before.description;
    const description = describe(known);
    latest.set(file.name, { fingerprint, description });
    description.catch((error: unknown) => {
      if (!(error instanceof ModelError)) latest.delete(file.name);
    });
    return description;
  };
}

function notFound(message: string): ModelError {
  return new ModelError('model_not_found', message, { field: 'model' });
}

function nullForUnreadable(error: unknown): null {
  if (error instanceof ModelError) return null;
  throw error;
}

function descriptionOf(
  { file, fingerprint }: KnownFile,
  header: ModelHeader,
  windowTokens: number,
): ModelDescription {
  return {
    id: file.name,
    object: 'model',
    created: Math.floor(file.status.mtimeMs / 1000),
    owned_by: 'local',
    fingerprint,
    name: header.name,
    kind: header.kind,
    architecture: header.architecture,
    dimensions: header.dimensions,
    window: windowOf(header, windowTokens),
    size_bytes: file.status.size,
  };
}
