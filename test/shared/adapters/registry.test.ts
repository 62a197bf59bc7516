import { execFile } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { completers, embedders, objectStorages, rerankers } from '../../../src/shared/adapters/registry.js';
import { leaves } from '../../../src/shared/settings/schema.js';
import { readSettings } from '../../../src/shared/settings/load.js';

const PORTS = [
  ['embedder', embedders],
  ['completer', completers],
  ['reranker', rerankers],
  ['object_storage', objectStorages],
] as const;

const models = [...embedders, ...completers, ...rerankers];

test.each(PORTS)(
  'the names of all adapters for the %s differ, and its setting allows them',
  (port, registry) => {
    const names = registry.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const setting = leaves.find(({ name }) => name === port);
    for (const name of names) expect(setting?.note.allowed).toContain(JSON.stringify(name));
  },
);

test('each section of an adapter is a section of the file, and each of its rules is about settings that there are', () => {
  const known = leaves.map(({ name }) => name);
  for (const { settings = {}, rules = [], sectionRules = [] } of [...models, ...objectStorages]) {
    for (const section of Object.keys(settings)) expect(leaves.map(({ path }) => path[0])).toContain(section);
    for (const { names } of [...rules, ...sectionRules])
      expect(known).toEqual(expect.arrayContaining([...names]));
  }
});

test('each model of a provider names settings that there are, or a variable, for the operator', () => {
  const known = [...leaves.map(({ name }) => name), 'OPENAI_API_KEY', 'RERANKER_API_KEY'];
  for (const { place } of models)
    if (place.at === 'provider') expect(known).toEqual(expect.arrayContaining(Object.values(place.setBy)));
});

test('what an adapter needs is asked for where it is chosen, and nowhere else', () => {
  const problemsWith = (env: Record<string, string>) => {
    const result = readSettings({ env, toml: null });
    return 'problems' in result ? result.problems.map(({ setting }) => setting) : [];
  };
  expect(problemsWith({})).toEqual([]);
  expect(problemsWith({ QUIRE_OBJECT_STORAGE: 's3' })).toEqual(['s3.bucket']);
  expect(problemsWith({ QUIRE_RERANKER: 'http' })).toEqual(['reranker']);
  // Settings of a section that belong together must fit, whatever is chosen.
  expect(problemsWith({ QUIRE_S3_ACCESS_KEY_ID: 'key' })).toEqual(['s3.secret_access_key']);
});

/** Writes the address of each module that is loaded. */
const TELL_LOADED = `
  import { writeSync } from 'node:fs';
  export async function load(url, context, next) {
    writeSync(1, url + '\\n');
    return next(url, context);
  }`;

test('the registry loads the descriptors alone: no adapter, and no library of a client', async () => {
  const hooks = `data:text/javascript,${encodeURIComponent(TELL_LOADED)}`;
  const registry = pathToFileURL('dist/shared/adapters/registry.js').href;
  const code = `
    import { register } from 'node:module';
    register(${JSON.stringify(hooks)});
    await import(${JSON.stringify(registry)});`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code]);
  const loaded = stdout.split('\n');
  const adapters = loaded.flatMap((url) => /\/dist\/shared\/adapters\/(.*)$/.exec(url)?.[1] ?? []);
  expect(adapters).toContain('registry.js');
  expect(adapters.filter((name) => !/(?:^|\/)(?:registry|descriptor|section)\.js$/.test(name))).toEqual([]);
  const packages = loaded.flatMap((url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? []);
  expect(packages).toEqual([]);
  // The bundles of packages, and what they share.
  const bundles = loaded.flatMap((url) => /\/dist\/packages\/(.*)\.js$/.exec(url)?.[1] ?? []);
  expect(bundles.filter((name) => !name.startsWith('chunk-'))).toEqual(['zod']);
});
