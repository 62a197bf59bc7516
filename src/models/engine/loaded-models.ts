import type { ModelKind } from '../../shared/local-models/description.js';
import type { Fingerprint } from '../../shared/local-models/fingerprints.js';
import type { Logger } from '../../shared/observability/logger.js';
import { traced } from '../../shared/tracing/tracing.js';
import type { CrashJournal } from './crash-journal.js';
import type { KnownFile, ModelCatalog } from './model-catalog.js';
import { ModelError, type ModelErrorCode } from './model-error.js';
import { readModelHeader } from './model-header.js';
import { estimateBytes, openModel, type ModelUses, type OpenModel, type OpenParts } from './open-model.js';

export interface LoadedModel {
  readonly name: string;
  readonly kind: ModelKind;
  readonly bytes: number;
  readonly waiting: number;
}

/** The models that are in memory. */
export interface LoadedModels {
  /**
   * Runs a task with a model, which is loaded first where it is not, and stays until the memory is needed.
   *
   * @param id of the catalog
   * @throws ModelError
   */
  use<Kind extends ModelKind, Result>(
    id: string,
    kind: Kind,
    task: (use: ModelUses[Kind]) => Promise<Result>,
  ): Promise<Result>;
  loaded(): LoadedModel[];
  close(): Promise<void>;
}

interface Entry<Kind extends ModelKind = ModelKind> {
  readonly name: string;
  readonly kind: Kind;
  readonly bytes: number;
  readonly opened: OpenModel<Kind>;
  users: number;
  usedAt: number;
}

interface StoreOptions extends OpenParts {
  readonly catalog: ModelCatalog;
  readonly memoryBytes: number;
  /** Files that the settings name. They stay in memory while others come and go. */
  readonly named: ReadonlySet<string>;
  readonly journal: CrashJournal;
  readonly logger: Logger;
}

const isOfKind = <Kind extends ModelKind>(entry: Entry, kind: Kind): entry is Entry<Kind> =>
  entry.kind === kind;

export function createLoadedModels(options: StoreOptions): LoadedModels {
  const entries = new Map<string, Entry>();
  const take = createTakeEntry(options, entries);
  return {
    use: async (id, kind, task) => {
      const entry = await take(await options.catalog.find(id), kind);
      try {
        if (!isOfKind(entry, kind)) throw new Error(`a model was opened for ${entry.kind}, not for ${kind}`);
        return await task(entry.opened.use);
      } finally {
        entry.users -= 1;
        entry.usedAt = performance.now();
      }
    },
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

/** A file that cannot be loaded is not tried again for this long: it would keep other models from being loaded. */
const REFUSED_MILLISECONDS = 30_000;

/**
 * Makes the function that counts one more user of a loaded model. Models are loaded one after the other, so that two do not
 * take the same memory. Users of a model that is loaded do not wait for that.
 */
function createTakeEntry(options: StoreOptions, entries: Map<string, Entry>) {
  let loading: Promise<unknown> = Promise.resolve();
  const refusals = new Map<string, { readonly error: ModelError; readonly until: number }>();
  const takeLoaded = (key: string): Entry | null => {
    const entry = entries.get(key);
    // Counted before anything else happens, since another model that is loaded could unload this one.
    if (entry) entry.users += 1;
    return entry ?? null;
  };
  const load = async (key: string, known: KnownFile, kind: ModelKind): Promise<Entry> => {
    const loaded = takeLoaded(key);
    if (loaded) return loaded;
    const refusal = refusals.get(key);
    if (refusal && refusal.until > performance.now()) throw refusal.error;
    refusals.delete(key);
    const attributes = { 'gen_ai.request.model': known.file.name };
    const entry = await traced('load model', { attributes }, () =>
      openEntry(options, entries, { ...known, kind }),
    ).catch((error: unknown) => {
      if (error instanceof ModelError && LASTING.includes(error.code))
        refusals.set(key, { error, until: performance.now() + REFUSED_MILLISECONDS });
      throw error;
    });
    entries.set(key, entry);
    options.logger.info({ model: entry.name, kind, bytes: entry.bytes }, 'model loaded');
    entry.users += 1;
    return entry;
  };
  return (known: KnownFile, kind: ModelKind): Promise<Entry> => {
    const key = `${known.fingerprint} ${kind}`;
    const loaded = takeLoaded(key);
    if (loaded) return Promise.resolve(loaded);
    const next = loading.then(() => load(key, known, kind));
    loading = next.catch(() => undefined);
    return next;
  };
}

/** Errors whose cause is the file or the settings. */
const LASTING: readonly ModelErrorCode[] = ['invalid_model', 'too_large_for_memory', 'wrong_kind'];

/** Makes room and loads the file. */
async function openEntry(
  options: StoreOptions,
  entries: Map<string, Entry>,
  { kind, ...known }: KnownFile & { readonly kind: ModelKind },
): Promise<Entry> {
  const { catalog, journal } = options;
  const { file, fingerprint } = known;
  checkPause(journal, fingerprint);
  const header = await readModelHeader(file);
  const bytes = await estimateBytes(options, header, kind);
  await makeRoom(options, entries, { name: file.name, bytes });
  const opened = await journal.during(fingerprint, () => openModel(options, { ...known, header }, kind));
  // The weights of another file must not be known by this fingerprint, which saved states go by.
  if (await catalog.wasReplaced(known)) {
    await opened.close();
    throw new ModelError('model_changed', 'the model file was replaced while it was loaded', {
      field: 'model',
    });
  }
  return { name: file.name, kind, bytes, opened, users: 0, usedAt: performance.now() };
}

function checkPause(journal: CrashJournal, fingerprint: Fingerprint): void {
  const pause = journal.pauseOf(fingerprint);
  if (!pause) return;
  const { crashes, until } = pause;
  throw new ModelError(
    'invalid_model',
    `the process ended ${String(crashes)} times while it loaded this file, which is not tried again before ${until.toISOString()}`,
    { field: 'model' },
  );
}

const megabytes = (bytes: number) => String(Math.ceil(bytes / 1024 ** 2));

/**
 * Unloads models that nobody uses, the least recently used first, until there is room. Models that the settings name are
 * not unloaded for a model that only callers name.
 */
async function makeRoom(
  { memoryBytes, named, logger }: StoreOptions,
  entries: Map<string, Entry>,
  wanted: { readonly name: string; readonly bytes: number },
): Promise<void> {
  const mayGo = ({ name }: Entry) => named.has(wanted.name) || !named.has(name);
  const sumOf = (some: readonly Entry[]) => some.reduce((sum, { bytes }) => sum + bytes, 0);
  const staying = sumOf([...entries.values()].filter((entry) => !mayGo(entry)));
  if (staying + wanted.bytes > memoryBytes)
    throw new ModelError(
      'too_large_for_memory',
      `the model takes about ${megabytes(wanted.bytes)} MB, models.memory_megabytes is ${megabytes(memoryBytes)}${staying > 0 ? `, of which models of the settings take ${megabytes(staying)}` : ''}`,
      { field: 'model' },
    );
  while (sumOf([...entries.values()]) + wanted.bytes > memoryBytes) {
    const [oldest] = [...entries]
      .filter(([, entry]) => entry.users === 0 && mayGo(entry))
      .sort(([, one], [, other]) => one.usedAt - other.usedAt);
    if (!oldest)
      throw new ModelError('overloaded', 'the models that are in use leave no memory for this one');
    const [key, entry] = oldest;
    entries.delete(key);
    await entry.opened.close();
    logger.info({ model: entry.name, kind: entry.kind }, 'model unloaded');
  }
}
