import { createHash } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { LlamaContextSequence, Token } from 'node-llama-cpp';
import type { DiskWatch } from '../../../shared/disk/disk-watch.js';
import type { Logger } from '../../../shared/observability/logger.js';
import { onMissing } from '../../../shared/system-error-code.js';
import { repeat } from '../../../shared/tools/repeat.js';
import { loadState, type SavedState } from './load-state.js';
import { createPutAside, type PutAside } from './put-aside.js';
import { isOwnedBy, readManifest, writeManifest, type StateOwner } from './state-manifest.js';

interface NewState extends StateOwner {
  /** The group of the state: states of one group give way to each other first. */
  readonly group: string;
  readonly tokens: readonly Token[];
  readonly sequence: LlamaContextSequence;
}

export interface StateFiles {
  /** Keeps the state that a conversation had in its slot, for as long as another has the slot. */
  readonly putAside: PutAside;
  /** Null for a state that is not there, not whole, or not of this owner. */
  find(id: string, owner: StateOwner): Promise<SavedState | null>;
  save(id: string, state: NewState): Promise<{ readonly bytes: number }>;
  remove(id: string): Promise<void>;
  list(): Promise<StateSummary[]>;
}

const STATE = '.state';
const MANIFEST = '.json';

interface StateFileOptions {
  /** The limit of all states together; beyond it, the least recently used states of the group with the most bytes go. */
  readonly maxBytes: number;
  /** Asked before a state is written. */
  readonly disk: Pick<DiskWatch, 'requireRoom'>;
  readonly logger: Logger;
}

/** The states of a folder that no other process writes to. */
export async function openStateFiles(
  directory: string,
  { maxBytes, disk, logger }: StateFileOptions,
): Promise<StateFiles> {
  const index = createStateIndex(await openDirectory(directory));
  const pathsOf = (id: string) => pathsIn(directory, id);
  const remove = async (id: string) => {
    index.remove(id);
    await removeFiles(pathsOf(id));
  };
  const removeUnreadable = async (id: string, error: unknown) => {
    logger.warn({ err: error }, 'saved state cannot be loaded');
    await remove(id);
  };
  const inTurn = createQueue();
  return {
    putAside: createPutAside(directory, { disk, logger }),
    remove: (id) => inTurn(() => remove(id)),
    find: async (id, owner) => {
      const paths = pathsOf(id);
      const manifest = await readManifest(paths.manifest);
      if (!manifest || !isOwnedBy(manifest, owner)) return null;
      if ((await sizeOf(paths.state)) !== manifest.bytes) return null;
      index.noteUse(id, await noteUse(paths));
      return {
        tokens: manifest.tokens,
        load: (sequence) => loadState(paths.state, sequence, (error) => removeUnreadable(id, error)),
      };
    },
    save: (id, state) =>
      inTurn(async () => {
        index.remove(id);
        const { bytes } = await saveState(disk, pathsOf(id), { id, ...state });
        index.set({ id, group: state.group, bytes, tokens: state.tokens.length, usedAt: Date.now() });
        for (const spare of chooseSpare(index.list(), { kept: id, maxBytes })) await remove(spare.id);
        return { bytes };
      }),
    list: () => Promise.resolve(index.list()),
  };
}

/**
 * Runs one task after the other: two runs of one build must not mix their files, and a state that is removed while it is
 * saved must not come back.
 */
function createQueue() {
  let last: Promise<unknown> = Promise.resolve();
  return <Result>(task: () => Promise<Result>): Promise<Result> => {
    const next = last.then(task);
    last = next.catch(() => undefined);
    return next;
  };
}

/** Notes the use of a state, which may be used from memory for long: the time of its manifest tells the last use. */
async function noteUse({ manifest }: StatePaths): Promise<number> {
  const now = new Date();
  // It may have been removed meanwhile.
  await utimes(manifest, now, now).catch(onMissing(undefined));
  return now.getTime();
}

interface StatePaths {
  readonly state: string;
  readonly manifest: string;
}

/** Ids come from requests and are hashed before they become file names. */
function pathsIn(directory: string, id: string): StatePaths {
  const base = join(directory, createHash('sha256').update(id).digest('hex').slice(0, 40));
  return { state: `${base}${STATE}`, manifest: `${base}${MANIFEST}` };
}

/** The manifest goes first: without it, a state counts for nothing. */
async function removeFiles({ state, manifest }: StatePaths): Promise<void> {
  await rm(manifest, { force: true });
  await rm(state, { force: true });
}

/** Writes the state, then its manifest. Whatever ends the process meanwhile, no other state is taken for this one. */
async function saveState(
  disk: StateFileOptions['disk'],
  paths: StatePaths,
  { sequence, ...manifest }: NewState & { readonly id: string },
): Promise<{ readonly bytes: number }> {
  await removeFiles(paths);
  // A state is written at once, and may be larger than what stays free.
  await disk.requireRoom(sequence.context.stateSize);
  const draft = `${paths.state}.draft`;
  const bytes = await writeDraft(draft, sequence);
  await rename(draft, paths.state);
  await writeManifest(paths.manifest, { ...manifest, bytes });
  return { bytes };
}

/** Writes a state to the disk. Nothing is left of a state that cannot be written. */
async function writeDraft(path: string, sequence: LlamaContextSequence): Promise<number> {
  try {
    await sequence.saveStateToFile(path);
    return await syncedSize(path);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/**
 * Reads the states of a folder, which is made where it is not there. Removes files that an ended process was writing, and
 * files whose use no manifest tells.
 */
async function openDirectory(directory: string): Promise<StateSummary[]> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const names = await readdir(directory);
  const used = new Set<string>();
  const states: StateSummary[] = [];
  // One after the other: together they may be larger than the memory.
  for (const name of names.filter((each) => each.endsWith(MANIFEST))) {
    const state = await summarize(join(directory, name));
    if (!state) continue;
    states.push(state);
    used.add(name);
    used.add(name.slice(0, -MANIFEST.length) + STATE);
  }
  const unused = names.filter((name) => !used.has(name));
  await Promise.all(unused.map((name) => rm(join(directory, name), { force: true })));
  return states;
}

async function summarize(path: string): Promise<StateSummary | null> {
  const manifest = await readManifest(path);
  if (!manifest) return null;
  const { id, group, bytes, tokens } = manifest;
  return { id, group, bytes, tokens: tokens.length, usedAt: (await stat(path)).mtimeMs };
}

const sizeOf = (path: string): Promise<number | null> => stat(path).then(({ size }) => size, onMissing(null));

/** The size of a file whose content is on the disk. */
async function syncedSize(path: string): Promise<number> {
  const file = await open(path, 'r+');
  try {
    await file.chmod(0o600);
    await file.sync();
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}

const EVERY_MILLISECONDS = 3_600_000;
const DAY_MILLISECONDS = 86_400_000;

interface Expiry {
  /** Days; 0: none is removed for its age. */
  readonly idleDays: number;
  readonly logger: Logger;
}

/**
 * Removes states that nobody has used for so long, at once and every hour from then on. A later request for one has it read
 * again. States whose installation is gone are removed, too.
 * @returns a function that ends this
 */
export function expireStates(states: StateFiles, { idleDays, logger }: Expiry): () => void {
  if (idleDays === 0) return () => undefined;
  const expire = async () => {
    const oldest = Date.now() - idleDays * DAY_MILLISECONDS;
    const idle = (await states.list()).filter(({ usedAt }) => usedAt < oldest);
    for (const { id } of idle) await states.remove(id);
    if (idle.length > 0) logger.info({ states: idle.length }, 'unused states removed');
  };
  const onError = (error: unknown) => logger.warn({ err: error }, 'unused states not removed');
  expire().catch(onError);
  return repeat(expire, { everyMilliseconds: EVERY_MILLISECONDS, onError });
}

/** The facts about a state without its files. */
interface StateSummary {
  readonly id: string;
  /** The group of the state. States of one group give way to each other first. */
  readonly group: string;
  readonly tokens: number;
  readonly bytes: number;
  readonly usedAt: number;
}

/** The states of a folder, in memory: manifests hold all tokens, and reading thousands of them takes seconds. */
interface StateIndex {
  set(state: StateSummary): void;
  noteUse(id: string, usedAt: number): void;
  remove(id: string): void;
  list(): StateSummary[];
}

function createStateIndex(states: readonly StateSummary[]): StateIndex {
  const known = new Map(states.map((state) => [state.id, state]));
  return {
    set: (state) => known.set(state.id, state),
    noteUse: (id, usedAt) => {
      const state = known.get(id);
      if (state) known.set(id, { ...state, usedAt });
    },
    remove: (id) => known.delete(id),
    list: () => [...known.values()],
  };
}

interface Room {
  /** The state that was just saved. */
  readonly kept: string;
  readonly maxBytes: number;
}

/**
 * Returns the states beyond the limit: always the least recently used one of the group with the most bytes, so that nobody
 * who fills the room removes states of others. A state that is larger than all room goes alone.
 */
function chooseSpare(states: readonly StateSummary[], { kept, maxBytes }: Room): StateSummary[] {
  const vast = states.find(({ id, bytes }) => id === kept && bytes > maxBytes);
  if (vast) return [vast];
  const groups = groupsOf(states, kept);
  let bytes = sumOf(states);
  const spare: StateSummary[] = [];
  while (bytes > maxBytes) {
    const heaviest = groups
      .filter(({ oldest }) => oldest.length > 0)
      .reduce<Group | null>((most, group) => (most && most.bytes >= group.bytes ? most : group), null);
    const next = heaviest?.oldest.shift();
    if (!heaviest || !next) break;
    heaviest.bytes -= next.bytes;
    bytes -= next.bytes;
    spare.push(next);
  }
  return spare;
}

interface Group {
  bytes: number;
  /** The states that may go, the least recently used first. */
  readonly oldest: StateSummary[];
}

function groupsOf(states: readonly StateSummary[], kept: string): Group[] {
  const groups = new Map<string, StateSummary[]>();
  for (const state of states) {
    const group = groups.get(state.group);
    if (group) group.push(state);
    else groups.set(state.group, [state]);
  }
  return [...groups.values()].map((group) => ({
    bytes: sumOf(group),
    oldest: group.filter(({ id }) => id !== kept).sort((one, other) => one.usedAt - other.usedAt),
  }));
}

const sumOf = (states: readonly StateSummary[]) => states.reduce((sum, { bytes }) => sum + bytes, 0);
