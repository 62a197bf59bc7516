import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LlamaContextSequence, Token } from 'node-llama-cpp';
import { z } from 'zod';
import { systemErrorCode } from '../../shared/system-error-code.js';

/** What a state is good for. A state of anything else loads without an error, and answers nonsense. */
export interface StateOwner {
  readonly fingerprint: string;
  /** The form in which conversations are written. */
  readonly template: string;
  readonly window: number;
  /** The release of llama.cpp. */
  readonly engine: string;
}

/** What a model knows after it has read a text, in a file. */
export interface SavedState {
  readonly tokens: readonly Token[];
  /** Replaces what the sequence holds. When that fails, the sequence holds nothing, and the state is removed. */
  load(sequence: LlamaContextSequence): Promise<void>;
}

export interface StateSummary {
  readonly id: string;
  readonly tokens: number;
  readonly bytes: number;
  readonly usedAt: number;
}

interface NewState extends StateOwner {
  readonly tokens: readonly Token[];
  readonly sequence: LlamaContextSequence;
}

export interface StateFiles {
  /** Null for a state that is not there, not whole, or not of this owner. */
  find(id: string, owner: StateOwner): Promise<SavedState | null>;
  save(id: string, state: NewState): Promise<{ readonly bytes: number }>;
  remove(id: string): Promise<void>;
  list(): Promise<StateSummary[]>;
}

const manifestSchema = z.object({
  format: z.literal(1),
  fingerprint: z.string(),
  template: z.string(),
  window: z.int().positive(),
  engine: z.string(),
  bytes: z.int().positive(),
  /** 32-bit numbers in base64. */
  tokens: z.base64(),
});
type Manifest = z.infer<typeof manifestSchema>;

/** States and what is being written of them. Ids come from requests and are hashed before they become file names. */
const STATE = '.state';
const MANIFEST = '.json';
const DRAFT = '.draft';

/** @param maxBytes of all states together; the least recently used ones go when there are more */
export async function openStateFiles(directory: string, maxBytes: number): Promise<StateFiles> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await removeUnused(directory);
  const pathsOf = (id: string): StatePaths => {
    const base = join(directory, createHash('sha256').update(id).digest('hex').slice(0, 40));
    return { state: `${base}${STATE}`, manifest: `${base}${MANIFEST}` };
  };
  return {
    remove: (id) => removeState(pathsOf(id)),
    find: async (id, owner) => {
      const paths = pathsOf(id);
      const manifest = await readManifest(paths.manifest);
      if (!manifest || !fits(manifest, owner) || (await sizeOf(paths.state)) !== manifest.bytes) return null;
      await noteUse(paths);
      return { tokens: decodeTokens(manifest.tokens), load: (sequence) => loadState(paths, sequence) };
    },
    save: inTurn(async (id: string, state: NewState) => {
      const saved = await saveState(id, pathsOf(id), state);
      const spare = chooseSpare(await listStates(directory), { kept: id, maxBytes });
      for (const each of spare) await removeState(pathsOf(each.id));
      return saved;
    }),
    list: () => listStates(directory),
  };
}

/** Runs one call after the other: two runs of one build must not mix their files. */
function inTurn<Args extends unknown[], Result>(task: (...args: Args) => Promise<Result>) {
  let last: Promise<unknown> = Promise.resolve();
  return (...args: Args): Promise<Result> => {
    const next = last.then(() => task(...args));
    last = next.catch(() => undefined);
    return next;
  };
}

/** A state may be used from memory for long: what was used last is told by the time of its manifest. */
async function noteUse({ manifest }: StatePaths): Promise<void> {
  const now = new Date();
  await utimes(manifest, now, now).catch((error: unknown) => {
    // It was removed meanwhile.
    if (systemErrorCode(error) !== 'ENOENT') throw error;
  });
}

async function listStates(directory: string): Promise<StateSummary[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(MANIFEST));
  const summaries = await Promise.all(names.map((name) => summarize(join(directory, name))));
  return summaries.filter((summary) => summary !== null);
}

/** The least recently used states that are too many, without the one that was just saved. */
function chooseSpare(
  states: readonly StateSummary[],
  { kept, maxBytes }: { readonly kept: string; readonly maxBytes: number },
): StateSummary[] {
  let bytes = states.reduce((sum, state) => sum + state.bytes, 0);
  const oldest = states.filter(({ id }) => id !== kept).sort((one, other) => one.usedAt - other.usedAt);
  return oldest.filter((state) => {
    const isSpare = bytes > maxBytes;
    if (isSpare) bytes -= state.bytes;
    return isSpare;
  });
}

interface StatePaths {
  readonly state: string;
  readonly manifest: string;
}

/** The manifest goes first: without it, a state counts for nothing. */
async function removeState({ state, manifest }: StatePaths): Promise<void> {
  await rm(manifest, { force: true });
  await rm(state, { force: true });
}

/** Writes the state, then what it is good for. Whatever ends the process meanwhile, no other state is taken for this one. */
async function saveState(
  id: string,
  paths: StatePaths,
  { sequence, tokens, fingerprint, template, window, engine }: NewState,
): Promise<{ readonly bytes: number }> {
  await rm(paths.manifest, { force: true });
  const bytes = await writeDraft(`${paths.state}${DRAFT}`, sequence);
  await rename(`${paths.state}${DRAFT}`, paths.state);
  const owner = { fingerprint, template, window, engine };
  const manifest = { id, format: 1, ...owner, bytes, tokens: encodeTokens(tokens) };
  await writeFile(`${paths.manifest}${DRAFT}`, JSON.stringify(manifest), { mode: 0o600, flush: true });
  await rename(`${paths.manifest}${DRAFT}`, paths.manifest);
  return { bytes };
}

/** Writes a state to the disk. Nothing is left of one that cannot be written. */
async function writeDraft(path: string, sequence: LlamaContextSequence): Promise<number> {
  try {
    await sequence.saveStateToFile(path);
    return await syncedSize(path);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

async function loadState(paths: StatePaths, sequence: LlamaContextSequence): Promise<void> {
  try {
    await sequence.loadStateFromFile(paths.state, { acceptRisk: true });
  } catch {
    // It is read anew. The engine gives one vague reason for a file that is cut off and one of another shape.
    await removeState(paths);
    await sequence.clearHistory();
  }
}

function fits(manifest: Manifest, owner: StateOwner): boolean {
  return (
    manifest.fingerprint === owner.fingerprint &&
    manifest.template === owner.template &&
    manifest.engine === owner.engine &&
    manifest.window === owner.window
  );
}

/** Removes what an ended process was writing, and what no manifest tells the use of. */
async function removeUnused(directory: string): Promise<void> {
  const names = await readdir(directory);
  const used = new Set<string>();
  for (const name of names.filter((each) => each.endsWith(MANIFEST))) {
    if (!(await readManifest(join(directory, name)))) continue;
    used.add(name);
    used.add(name.slice(0, -MANIFEST.length) + STATE);
  }
  const unused = names.filter((name) => !used.has(name));
  await Promise.all(unused.map((name) => rm(join(directory, name), { force: true })));
}

async function readManifest(path: string): Promise<Manifest | null> {
  const text = await readIfThere(path);
  if (text === null) return null;
  const parsed = manifestSchema.safeParse(parseJson(text));
  return parsed.success ? parsed.data : null;
}

async function summarize(path: string): Promise<StateSummary | null> {
  const text = await readIfThere(path);
  const parsed = manifestSchema.extend({ id: z.string() }).safeParse(text === null ? null : parseJson(text));
  if (!parsed.success) return null;
  const { id, tokens, bytes } = parsed.data;
  const { mtimeMs } = await stat(path);
  return { id, bytes, tokens: decodeTokens(tokens).length, usedAt: mtimeMs };
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

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

function encodeTokens(tokens: readonly Token[]): string {
  return Buffer.from(Uint32Array.from(tokens).buffer).toString('base64');
}

function decodeTokens(text: string): Token[] {
  const bytes = new Uint8Array(Buffer.from(text, 'base64'));
  // @NOTE Token is a number that the engine's types brand
  return Array.from(new Uint32Array(bytes.buffer)) as Token[];
}
