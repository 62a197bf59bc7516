import type { Logger } from '../../shared/observability/logger.js';
import type { ModelDescription, ModelKind } from '../../shared/local-models/description.js';
import type { Fingerprint, Fingerprints } from '../../shared/local-models/fingerprints.js';
import {
  findModelFile,
  isModelName,
  listModelFiles,
  MODEL_NAME_RULE,
  type ModelFile,
} from '../../shared/local-models/model-files.js';
import type { CrashJournal } from './crash-journal.js';
import { ModelError } from './model-error.js';
import { readModelHeader } from './model-header.js';
import {
  estimateBytes,
  openModel,
  windowOf,
  type ModelUses,
  type OpenModel,
  type OpenParts,
} from './open-model.js';

export interface LoadedModel {
  readonly name: string;
  readonly kind: ModelKind;
  readonly bytes: number;
  readonly waiting: number;
}

/** The models that are in memory, and those that could be. */
export interface LoadedModels {
  /**
   * Runs a task with a model, which is loaded first where it is not, and stays until the memory is needed.
   *
   * @param id a file name, or one with `@` and the file's fingerprint: then the file must be that very one
   * @throws ModelError
   */
  use<Kind extends ModelKind, Result>(
    id: string,
    kind: Kind,
    task: (use: ModelUses[Kind]) => Promise<Result>,
  ): Promise<Result>;
  describe(id: string): Promise<ModelDescription>;
  list(): Promise<ModelDescription[]>;
  loaded(): LoadedModel[];
  close(): Promise<void>;
}

interface Entry {
  readonly name: string;
  readonly kind: ModelKind;
  readonly bytes: number;
  readonly opened: OpenModel;
  users: number;
  usedAt: number;
}

interface StoreOptions extends OpenParts {
  readonly directory: string;
  readonly memoryBytes: number;
  readonly fingerprints: Fingerprints;
  readonly journal: CrashJournal;
  readonly logger: Logger;
}

interface KnownFile {
  readonly file: ModelFile;
  readonly fingerprint: Fingerprint;
}

export function createLoadedModels(options: StoreOptions): LoadedModels {
  const entries = new Map<string, Entry>();
  const take = createTakeEntry(options, entries);
  return {
    use: async (id, kind, task) => {
      const entry = await take(await findKnown(options, id), kind);
      try {
        // @NOTE entries are kept by kind, so that this one has the use of its kind
        return await task(entry.opened.use as ModelUses[typeof kind]);
      } finally {
        entry.users -= 1;
        entry.usedAt = performance.now();
      }
    },
    describe: async (id) => describe(options, await findKnown(options, id)),
    list: () => describeAll(options),
    loaded: () =>
      [...entries.values()].map(({ name, kind, bytes, opened }) => ({
        name,
        kind,
        bytes,
        waiting: opened.turns.waiting,
      })),
    close: async () => {
      await Promise.allSettled([...entries.values()].map(({ opened }) => opened.close()));
    },
  };
}

/**
 * Makes the function that counts one more user of a loaded model. Models are loaded one after the other, so that two do not
 * take the same memory.
 */
function createTakeEntry(options: StoreOptions, entries: Map<string, Entry>) {
  let loading: Promise<unknown> = Promise.resolve();
  const load = async (known: KnownFile, kind: ModelKind): Promise<Entry> => {
    const key = `${known.fingerprint} ${kind}`;
    let entry = entries.get(key);
    if (!entry) {
      entry = await openEntry(options, entries, { ...known, kind });
      entries.set(key, entry);
      options.logger.info({ model: entry.name, kind, bytes: entry.bytes }, 'model loaded');
    }
    // Counted before the next model is loaded, which could unload this one.
    entry.users += 1;
    return entry;
  };
  return (known: KnownFile, kind: ModelKind): Promise<Entry> => {
    const next = loading.then(() => load(known, kind));
    loading = next.catch(() => undefined);
    return next;
  };
}

async function findKnown({ directory, fingerprints }: StoreOptions, id: string): Promise<KnownFile> {
  const [name = '', wanted] = id.split('@');
  if (!isModelName(name)) throw notFound(`model must be ${MODEL_NAME_RULE}`);
  const file = await findModelFile(directory, name);
  if (!file) throw notFound('the models folder has no file of this name');
  const fingerprint = await fingerprints.of(file);
  if (wanted === undefined || wanted === fingerprint) return { file, fingerprint };
  throw new ModelError('model_changed', 'the model file is another one than was asked for', {
    field: 'model',
  });
}

/** What cannot be read is left out. */
async function describeAll(options: StoreOptions): Promise<ModelDescription[]> {
  const files = await listModelFiles(options.directory);
  const described = await Promise.all(
    files.map(async (file) => {
      const fingerprint = await options.fingerprints.of(file);
      return describe(options, { file, fingerprint }).catch((error: unknown) => {
        if (error instanceof ModelError) return null;
        throw error;
      });
    }),
  );
  return described.filter((description) => description !== null);
}

function notFound(message: string): ModelError {
  return new ModelError('model_not_found', message, { field: 'model' });
}

async function describe(
  { limits }: StoreOptions,
  { file, fingerprint }: KnownFile,
): Promise<ModelDescription> {
  const header = await readModelHeader(file);
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
    window: windowOf(header, limits),
    size_bytes: file.status.size,
  };
}

/** Makes room and loads the file. */
async function openEntry(
  options: StoreOptions,
  entries: Map<string, Entry>,
  { file, fingerprint, kind }: KnownFile & { readonly kind: ModelKind },
): Promise<Entry> {
  const { journal, memoryBytes } = options;
  if (journal.hasCrashed(fingerprint))
    throw new ModelError(
      'invalid_model',
      'the process ended twice while it loaded this file: replace the file, or remove .crashes.json beside it to try again',
      {
        field: 'model',
      },
    );
  const header = await readModelHeader(file);
  const bytes = await estimateBytes(options, header, kind);
  if (bytes > memoryBytes)
    throw new ModelError(
      'too_large_for_memory',
      `the model takes about ${megabytes(bytes)} MB, models.memory_megabytes is ${megabytes(memoryBytes)}`,
      { field: 'model' },
    );
  await makeRoom(options, entries, bytes);
  const opened = await journal.during(fingerprint, () =>
    openModel(options, { file, fingerprint, header }, kind),
  );
  if (await wasReplaced(options, file.name, fingerprint)) {
    await opened.close();
    throw new ModelError('model_changed', 'the model file was replaced while it was loaded', {
      field: 'model',
    });
  }
  return { name: file.name, kind, bytes, opened, users: 0, usedAt: performance.now() };
}

/** The weights of another file must not be known by this fingerprint, which saved states go by. */
async function wasReplaced(
  { directory, fingerprints }: StoreOptions,
  name: string,
  fingerprint: Fingerprint,
) {
  const now = await findModelFile(directory, name);
  return now === null || (await fingerprints.of(now)) !== fingerprint;
}

const megabytes = (bytes: number) => String(Math.ceil(bytes / 1024 ** 2));

/** Unloads models that nobody uses, the least recently used first, until there is room. */
async function makeRoom(
  { memoryBytes, logger }: StoreOptions,
  entries: Map<string, Entry>,
  wanted: number,
): Promise<void> {
  const held = () => [...entries.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  while (held() + wanted > memoryBytes) {
    const [oldest] = [...entries]
      .filter(([, { users }]) => users === 0)
      .sort(([, one], [, other]) => one.usedAt - other.usedAt);
    if (!oldest)
      throw new ModelError('overloaded', 'the models that are in use leave no memory for this one');
    const [key, entry] = oldest;
    entries.delete(key);
    await entry.opened.close();
    logger.info({ model: entry.name, kind: entry.kind }, 'model unloaded');
  }
}
