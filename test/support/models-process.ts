import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeTinyModel, type TinyModelOptions } from './gguf/tiny-model.js';
import { freePort } from './redis.js';
import { inheritedEnvironment, startProcess, type StartedProcess } from './service.js';

export interface ModelsProcess {
  readonly url: string;
  /** The folder of model files. */
  readonly directory: string;
  readonly dataDirectory: string;
  /** The variables by which others find it. */
  readonly env: Readonly<Record<string, string>>;
  readonly process: StartedProcess;
  write(name: string, options: TinyModelOptions): Promise<string>;
  /** Ends it as given and starts it again. */
  restart(signal: NodeJS.Signals, env?: Readonly<Record<string, string>>): Promise<void>;
  post(path: string, body: object, call?: { method?: string; signal?: AbortSignal }): Promise<Answer>;
  stop(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

/** The real process with local models and the real engine, with models of random weights. */
export async function startModels(env: Readonly<Record<string, string>> = {}): Promise<ModelsProcess> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'quire-models-'));
  const directory = join(dataDirectory, 'models');
  await mkdir(directory);
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const own = {
    QUIRE_MODELS_DIR: directory,
    QUIRE_MODELS_PORT: port,
    QUIRE_MODELS_THREADS: '1',
    QUIRE_MODELS_CONTEXT_TOKENS: '4096',
  };
  const start = (more: Readonly<Record<string, string>>) =>
    startProcess('models/main.js', [], {
      execArgv: [],
      env: {
        ...inheritedEnvironment(),
        QUIRE_DATA_DIR: dataDirectory,
        QUIRE_DEV_MODE: 'true',
        ...own,
        ...more,
      },
    });
  let running = start(env);
  const untilReady = async () => {
    for (let tries = 0; tries < 1_200; tries += 1) {
      if ((await fetch(`${url}/health`).catch(() => null))?.ok === true) return;
      await sleep(50);
    }
    throw new Error(`the process with models does not answer:\n${running.output()}`);
  };
  await untilReady();
  return {
    url,
    directory,
    dataDirectory,
    env: { QUIRE_MODELS_URLS: url },
    get process() {
      return running;
    },
    write: (name, options) => {
      const path = join(directory, name);
      writeTinyModel(path, options);
      return Promise.resolve(path);
    },
    restart: async (signal, more = {}) => {
      await running.kill(signal);
      running = start({ ...env, ...more });
      await untilReady();
    },
    post: (path, body, call = {}) => send(`${url}${path}`, body, call),
    stop: async () => {
      await running.kill('SIGTERM');
      await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}

async function send(
  url: string,
  body: object,
  { method = 'POST', signal }: { method?: string; signal?: AbortSignal },
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
  const text = await response.text();
  return { status: response.status, text, body: parse(text) };
}

/** The last line of an answer of several. */
function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
  } catch {
    return {};
  }
}
