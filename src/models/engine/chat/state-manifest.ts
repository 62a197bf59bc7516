import { readFile, rename, writeFile } from 'node:fs/promises';
import type { Token } from 'node-llama-cpp';
import { z } from 'zod';
import { jsonOrNull } from '../../../shared/json-values.js';
import { onMissing } from '../../../shared/system-error-code.js';

/** The model that a state belongs to. A state of another model loads without an error, and answers nonsense. */
export interface StateOwner {
  readonly fingerprint: string;
  /** The form in which conversations are written. */
  readonly template: string;
  readonly window: number;
  /** The release of llama.cpp. */
  readonly engine: string;
}

const manifestSchema = z.object({
  id: z.string(),
  /** Absent in manifests of earlier commits. */
  group: z.string().default(''),
  format: z.literal(1),
  fingerprint: z.string(),
  template: z.string(),
  window: z.int().positive(),
  engine: z.string(),
  bytes: z.int().positive(),
  /** 32-bit numbers in base64. */
  tokens: z
    .base64()
    .refine((text) => Buffer.byteLength(text, 'base64') % 4 === 0, { abort: true })
    .transform(decodeTokens),
});

/** The facts about a saved state: its group, the length of its file, and the tokens that the model has read. */
export interface StateManifest extends StateOwner {
  readonly id: string;
  /** The group of the state: states of one group give way to each other first. */
  readonly group: string;
  readonly bytes: number;
  readonly tokens: readonly Token[];
}

/** Null for a manifest that is not there, or not whole. */
export async function readManifest(path: string): Promise<StateManifest | null> {
  const text = await readFile(path, 'utf8').catch(onMissing(null));
  return text === null ? null : (manifestSchema.safeParse(jsonOrNull(text)).data ?? null);
}

/** The manifest is there as a whole or not at all. */
export async function writeManifest(path: string, { tokens, ...manifest }: StateManifest): Promise<void> {
  const text = JSON.stringify({ ...manifest, format: 1, tokens: encodeTokens(tokens) });
  const draft = `${path}.draft`;
  await writeFile(draft, text, { mode: 0o600, flush: true });
  await rename(draft, path);
}

export function isOwnedBy(manifest: StateOwner, owner: StateOwner): boolean {
  return (
    manifest.fingerprint === owner.fingerprint &&
    manifest.template === owner.template &&
    manifest.engine === owner.engine &&
    manifest.window === owner.window
  );
}

function encodeTokens(tokens: readonly Token[]): string {
  return Buffer.from(Uint32Array.from(tokens).buffer).toString('base64');
}

function decodeTokens(text: string): Token[] {
  const bytes = new Uint8Array(Buffer.from(text, 'base64'));
  return Array.from(new Uint32Array(bytes.buffer)).filter(isToken);
}

/** A token is any whole number, which the engine's types brand. */
const isToken = (number: number): number is Token => Number.isInteger(number);
