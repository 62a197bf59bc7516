import { lstat, mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { importEngine } from '../../shared/local-models/import-engine.js';
import { readModelHeader, type ModelHeader } from '../../shared/local-models/model-header.js';
import { modelsDirectoryOf } from '../../shared/local-models/model-files.js';
import { embeddingFileOf, recommendedEmbedding } from '../../shared/local-models/recommended.js';
import { loadSettings, type Environment, type Settings } from '../../shared/settings/load.js';
import { onMissing } from '../../shared/system-error-code.js';
import { say, UserError } from '../user-messages.js';
import { bringModel, type BringOptions } from './pulling/bring-model.js';
import { lockModel } from './lock-model.js';
import { inMegabytes } from './megabytes.js';
import { parseSource, type ModelSource } from './pulling/model-source.js';
import { compareWithSource } from './pulling/compare-with-source.js';
import { asUserError } from './pull-errors.js';

export interface PullRequest {
  readonly source: string | undefined;
  readonly sha256?: string;
  readonly as?: string;
}

export interface PullOptions extends BringOptions {
  readonly env: Environment;
}

/**
 * Brings a model file into the models folder, under its name only when it is whole.
 * @returns the message for the user
 * @throws UserError
 */
export async function pull(request: PullRequest, options: PullOptions): Promise<string> {
  const { env } = options;
  const settings = loadSettings(env, []);
  const directory = modelsDirectoryOf(settings);
  const sha256 = parseSha256(request.sha256);
  const source = parseSource(request.source ?? recommendedSource(settings), request.as, env);
  try {
    await importEngine();
    await mkdir(directory, { recursive: true });
    const unlock = await lockModel(directory, source.name);
    try {
      const target = { directory: await realpath(directory), sha256 };
      if (await isThere(join(directory, source.name))) await compareWithSource(source, target, options);
      else await bringModel(source, target, options);
    } finally {
      await unlock();
    }
    return await describe(settings, source, directory);
  } catch (error) {
    throw asUserError(error, { directory, env, signal: options.signal });
  }
}

function recommendedSource({ models: { language } }: Settings): string {
  const { source, file, megabytes } = recommendedEmbedding[language];
  say(`Taking ${file} (${String(megabytes)} MB), which is recommended for models.language = "${language}".`);
  return source;
}

function parseSha256(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw new UserError(`--sha256 ${text}: allowed: 64 hexadecimal digits`);
}

/** @throws UserError for anything but a file */
async function isThere(path: string): Promise<boolean> {
  const status = await lstat(path).catch(onMissing(null));
  if (!status) return false;
  if (status.isFile()) return true;
  throw new UserError(`${path} is there already and is no file, but a link or a folder. Remove it first.`);
}

async function describe(settings: Settings, { name }: ModelSource, directory: string): Promise<string> {
  const path = join(directory, name);
  const status = await lstat(path);
  const header = await readModelHeader({ name, path, status });
  return [
    `${name} (${inMegabytes(status.size)} MB, ${header.kind}, window ${String(header.window)}) is in ${directory}`,
    ...adviceFor(settings, name, header),
  ].join('\n');
}

/** The lines of quire.toml that make use of the model. */
function adviceFor(settings: Settings, name: string, { kind }: ModelHeader): string[] {
  const isNamed = embeddingFileOf(settings) === name;
  switch (kind) {
    case 'embedding':
      return [
        `  try it     npx quire models test ${name}`,
        `  use it     embedder = "local"${isNamed ? '' : `, and in [embedding]: model = "${name}"`}`,
      ];
    case 'chat':
      return [
        `  try it     npx quire models test ${name}`,
        `  use it     completer = "local", and in [completion]: model = "${name}"`,
      ];
    case 'ranking':
      return [
        `  try it     npx quire models test ${name}`,
        `  use it     reranker = "local", and in [reranking]: model = "${name}"`,
      ];
  }
}
