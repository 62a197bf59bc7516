import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { settingsFile, settingsTable } from '../../../src/cli/settings.js';
import { loadSettings, readSettings, type SettingsSource } from '../../../src/shared/settings/load.js';
import { SettingsError } from '../../../src/shared/settings/rule.js';
import { isLoopbackHost } from '../../../src/shared/settings/addresses.js';

const secret = 'x'.repeat(32);

function accepted(source: Partial<SettingsSource>) {
  const result = readSettings({ env: {}, toml: null, ...source });
  if ('problems' in result) throw new SettingsError(result.problems);
  return result.settings;
}

function problemsOf(source: Partial<SettingsSource>) {
  const result = readSettings({ env: {}, toml: null, ...source });
  return 'problems' in result ? result.problems : [];
}

function namesOf(source: Partial<SettingsSource>): string[] {
  return problemsOf(source).map(({ setting }) => setting);
}

describe('reading settings', () => {
  test('the environment wins over the file, and the file over the default', () => {
    const toml = 'index = "exact"\n[api]\nport = 9000\nmax_json_bytes = 4096\n';
    const { index, api, chunk } = accepted({ env: { QUIRE_API_PORT: '9001' }, toml });
    expect(index).toBe('exact');
    expect(api).toMatchObject({ port: 9001, maxJsonBytes: 4096, host: '127.0.0.1' });
    expect(chunk).toEqual({ size: 512, overlap: 64 });
  });

  test('the usual variables set host, port and Redis, and the ones with our prefix win over them', () => {
    const env = { HOST: '127.0.0.2', PORT: '8001', REDIS_URL: 'redis://one:1' };
    expect(accepted({ env })).toMatchObject({
      api: { host: '127.0.0.2', port: 8001 },
      redis: { url: 'redis://one:1' },
    });
    const more = { ...env, QUIRE_API_PORT: '8002', QUIRE_REDIS_URL: 'redis://two:2' };
    expect(accepted({ env: more })).toMatchObject({ api: { port: 8002 }, redis: { url: 'redis://two:2' } });
  });

  test('variables are read as what the setting is: numbers, booleans, lists', () => {
    const env = {
      QUIRE_DEV_MODE: 'TRUE',
      QUIRE_API_TRUST_PROXY: '1',
      QUIRE_ADMIN_QUEUES_READ_ONLY: '0',
      QUIRE_INGEST_WAIT_SECONDS: '0',
      QUIRE_SEARCH_HYBRID_WEIGHT: '0.25',
      QUIRE_API_CORS_ORIGINS: 'https://one.example, http://localhost:3000',
    };
    expect(accepted({ env })).toMatchObject({
      devMode: true,
      api: { trustProxy: '1', corsOrigins: ['https://one.example', 'http://localhost:3000'] },
      admin: { queuesReadOnly: false },
      ingest: { waitSeconds: 0 },
      search: { hybridWeight: 0.25, ranking: 'auto' },
    });
  });

  test('an empty variable counts as not set', () => {
    expect(accepted({ env: { PORT: '', QUIRE_INDEX: '', JWT_SECRET_KEY: '' } })).toMatchObject({
      api: { port: 8000 },
      index: 'auto',
      jwtSecretKey: null,
    });
  });

  test('all problems are told at once, each with its name, its value and what is allowed', () => {
    const toml = 'colour = "red"\nindex = "fastest"\n[api]\nport = 70000\nprot = 1\n';
    const problems = problemsOf({
      env: { QUIRE_DEV_MODE: 'perhaps', QUIRE_API_PROT: '1', JWT_SECRET_KEY: 'short', PORT: '' },
      toml,
    });
    expect(problems).toEqual(
      expect.arrayContaining([
        { setting: 'colour', value: null, allowed: expect.stringContaining('dev_mode') },
        { setting: 'api.prot', value: null, allowed: expect.stringContaining('port') },
        { setting: 'QUIRE_API_PROT', value: null, allowed: expect.stringContaining('no such setting') },
        { setting: 'QUIRE_DEV_MODE', value: '"perhaps"', allowed: 'allowed: true or false' },
        { setting: 'index', value: '"fastest"', allowed: 'allowed: "auto" or "exact" or "query-engine"' },
        { setting: 'api.port', value: '70000', allowed: 'allowed: a whole number from 1 to 65535' },
        { setting: 'JWT_SECRET_KEY', value: '(not shown)', allowed: 'allowed: at least 32 bytes' },
      ]),
    );
    expect(problems).toHaveLength(7);
  });

  test.each([
    ['index', 'fastest', '"auto" or "exact" or "query-engine"'],
    ['object_storage', 'tape', '"disk" or "s3"'],
    ['embedder', 'cohere', '"builtin" or "openai" or "langchain" or "local"'],
  ])('%s = %s is refused with the values allowed now', (setting, value, allowed) => {
    const [problem] = problemsOf({ toml: `${setting} = "${value}"` });
    expect(problem).toEqual({ setting, value: `"${value}"`, allowed: `allowed: ${allowed}` });
  });

  test.each([
    ['a number where text belongs', '[api]\nhost = 1'],
    ['text where a number belongs', '[api]\nport = "8000"'],
    ['a fraction', '[chunk]\nsize = 99.5'],
    ['infinity', '[chunk]\nsize = inf'],
    ['a date', 'index = 2020-01-01'],
    ['a share above all', '[search]\nhybrid_weight = 1.01'],
    ['a share that is none', '[search]\nhybrid_weight = nan'],
    ['a name of the prototype', 'dev_mode = "constructor"'],
    ['a section that is a value', 'api = 1'],
    ['a list of something else', '[api]\ncors_origins = ["not an origin"]'],
    ['an origin with a path', '[api]\ncors_origins = ["https://app.example.com/"]'],
  ])('%s is one problem', (_, toml) => {
    expect(problemsOf({ toml })).toHaveLength(1);
  });

  test('a file that is no TOML is a problem with its place, without quoting the file', () => {
    const problems = problemsOf({ toml: 'index = "auto"\n[metrics]\ntoken = "hush-hush-hush-hush' });
    expect(problems).toHaveLength(1);
    expect(problems[0]?.allowed).toContain('line 3');
    expect(JSON.stringify(problems)).not.toContain('hush');
  });

  test('the values of secrets are never shown', () => {
    const env = { REDIS_URL: 'http://user:hush@host', QUIRE_METRICS_TOKEN: 'hush', JWT_SECRET_KEY: 'hush' };
    const problems = problemsOf({ env });
    expect(problems).toHaveLength(3);
    expect(new SettingsError(problems).message).not.toContain('hush');
  });

  test('an address with a login is refused for a provider, which could not be asked there, and is not shown', () => {
    const toml = ['embedding', 'completion', 'reranking']
      .map((section) => `[${section}]\nbase_url = "https://me:hush@models.example/v1"`)
      .join('\n');
    const problems = problemsOf({ toml });
    const refused = { value: '(not shown)', allowed: expect.stringContaining('without a login') as unknown };
    expect(problems).toEqual(
      ['embedding', 'completion', 'reranking'].map((section) => ({
        setting: `${section}.base_url`,
        ...refused,
      })),
    );
  });

  test('a process that is asked to stop must have time left after it has let balancers notice', () => {
    const env = { QUIRE_API_SHUTDOWN_DELAY_SECONDS: '25' };
    expect(problemsOf({ env })).toEqual([
      {
        setting: 'api.shutdown_delay_seconds',
        value: '25',
        allowed: 'allowed: less than workers.drain_seconds, which is 25',
      },
    ]);
    expect(namesOf({ env: { ...env, QUIRE_WORKERS_DRAIN_SECONDS: '26' } })).toEqual([]);
  });

  test('the overlap of chunks must be smaller than chunks', () => {
    expect(namesOf({ toml: '[chunk]\nsize = 64' })).toEqual(['chunk.overlap']);
    expect(namesOf({ toml: '[chunk]\nsize = 65' })).toEqual([]);
  });

  test('a wrong value is not also held against its neighbours', () => {
    expect(namesOf({ toml: '[chunk]\nsize = 1\noverlap = 400' })).toEqual(['chunk.size']);
  });

  test.each(['embedder', 'completer'])('openai as %s needs a key or another address', (port) => {
    const section = port === 'embedder' ? 'embedding' : 'completion';
    const toml = `${port} = "openai"\n`;
    expect(namesOf({ toml })).toEqual([port]);
    expect(namesOf({ toml, env: { OPENAI_API_KEY: 'key' } })).toEqual([]);
    expect(namesOf({ toml: `${toml}[${section}]\nbase_url = "http://127.0.0.1:1/v1"` })).toEqual([]);
  });

  test('a reranker over http needs a key or another address', () => {
    const toml = 'reranker = "http"\n';
    expect(problemsOf({ toml })).toEqual([
      { setting: 'reranker', value: '"http"', allowed: expect.stringContaining('RERANKER_API_KEY') },
    ]);
    expect(accepted({ toml, env: { RERANKER_API_KEY: 'key' } })).toMatchObject({
      reranker: 'http',
      rerankerApiKey: 'key',
      reranking: { candidates: 50, deadlineMilliseconds: 2_000, scores: 'probability' },
    });
    const elsewhere = `${toml}[reranking]\nbase_url = "http://127.0.0.1:1"`;
    expect(accepted({ toml: elsewhere })).toMatchObject({ rerankerApiKey: null });
    expect(
      namesOf({ toml: `${elsewhere}\ncandidates = 1001\nscores = "raw"\ndeadline_milliseconds = 0` }),
    ).toEqual(['reranking.scores', 'reranking.candidates', 'reranking.deadline_milliseconds']);
  });

  test('s3 needs a bucket, and both halves of a key or none', () => {
    const toml = 'object_storage = "s3"\n';
    expect(namesOf({ toml })).toEqual(['s3.bucket']);
    expect(namesOf({ toml: `${toml}[s3]\nbucket = "quire"` })).toEqual([]);
    const env = { QUIRE_OBJECT_STORAGE: 's3', QUIRE_S3_BUCKET: 'quire' };
    expect(namesOf({ env: { ...env, QUIRE_S3_ACCESS_KEY_ID: 'key' } })).toEqual(['s3.secret_access_key']);
    expect(namesOf({ env: { ...env, QUIRE_S3_SECRET_ACCESS_KEY: 'hush' } })).toEqual(['s3.access_key_id']);
    const both = { QUIRE_S3_ACCESS_KEY_ID: 'key', QUIRE_S3_SECRET_ACCESS_KEY: 'hush' };
    expect(namesOf({ env: { ...env, ...both } })).toEqual([]);
    const wrong = problemsOf({ env: { ...env, ...both, QUIRE_S3_SECRET_ACCESS_KEY: 'hush hush' } });
    expect(wrong).toMatchObject([{ setting: 'QUIRE_S3_SECRET_ACCESS_KEY', value: '(not shown)' }]);
  });

  test('dev mode listens on loopback only, unless it is allowed to be remote', () => {
    const env = { QUIRE_DEV_MODE: 'true', HOST: '0.0.0.0' };
    expect(namesOf({ env })).toEqual(['api.host']);
    expect(namesOf({ env: { ...env, QUIRE_ALLOW_REMOTE_DEV_MODE: 'true' } })).toEqual([]);
    expect(namesOf({ env: { ...env, QUIRE_DEV_MODE: 'false' } })).toEqual([]);
  });

  test('outside dev mode a process that needs the secret gets none by default', () => {
    expect(namesOf({ needs: ['secret'] })).toEqual(['JWT_SECRET_KEY']);
    expect(namesOf({ needs: ['secret'], env: { JWT_SECRET_KEY: secret } })).toEqual([]);
    expect(namesOf({ needs: ['secret'], env: { QUIRE_DEV_MODE: 'true' } })).toEqual([]);
  });

  test('what can be guessed has at least 16 characters, or is not there', () => {
    const allowed = 'allowed: at least 16 characters, or empty';
    const problem = { setting: 'LOCAL_URI_PASSWORD', value: '(not shown)', allowed };
    const tried = (password: string) => problemsOf({ env: { LOCAL_URI_PASSWORD: password } });
    expect(tried('p'.repeat(15))).toEqual([problem]);
    // Characters, not bytes or units: a short one in another script is as short.
    expect(tried('\u{1f600}'.repeat(15))).toEqual([problem]);
    expect([tried('p'.repeat(16)), tried('\u{1f600}'.repeat(16)), tried('')]).toEqual([[], [], []]);
    expect(namesOf({ env: { QUIRE_METRICS_TOKEN: 't'.repeat(15) } })).toEqual(['QUIRE_METRICS_TOKEN']);
    expect(namesOf({ env: { QUIRE_METRICS_TOKEN: 't'.repeat(16) } })).toEqual([]);
  });

  test('a process that needs Redis must be told its address', () => {
    expect(namesOf({ needs: ['redis'] })).toEqual(['REDIS_URL']);
    expect(namesOf({ needs: ['redis'], env: { REDIS_URL: 'redis://127.0.0.1:6379' } })).toEqual([]);
  });

  test('documented variables that are no settings are not taken for typing errors', () => {
    const names = [
      'QUIRE_CONFIG',
      'QUIRE_DATA_DIR',
      'QUIRE_NO_INSTALL',
      'QUIRE_SHARED',
      'QUIRE_TEST_ANYTHING',
    ];
    expect(namesOf({ env: Object.fromEntries(names.map((name) => [name, '1'])) })).toEqual([]);
  });
});

describe('loading settings', () => {
  test('QUIRE_CONFIG names the file, and one that is missing is a problem', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quire-settings-'));
    const path = join(folder, 'mine.toml');
    await writeFile(path, '[api]\nport = 8765\n');
    expect(loadSettings({ QUIRE_CONFIG: path }).api.port).toBe(8765);
    await rm(folder, { recursive: true });
    expect(() => loadSettings({ QUIRE_CONFIG: path })).toThrow(/QUIRE_CONFIG = .*mine\.toml/);
  });
});

describe('what is written about settings', () => {
  const shipped = readFileSync('quire.toml', 'utf8');

  test('the shipped quire.toml says the defaults, dev mode aside', () => {
    expect({ ...accepted({ toml: shipped }), devMode: false }).toEqual(accepted({}));
    expect(accepted({ toml: shipped }).devMode).toBe(true);
  });

  test('the shipped quire.toml is what `npx quire settings --toml` prints', () => {
    expect(shipped).toBe(settingsFile());
  });

  test('the table in docs/reference/settings.md is what `npx quire settings` prints', () => {
    const page = readFileSync('docs/reference/settings.md', 'utf8');
    const table =
      /<!-- settings: [^\n]*-->\s*<!-- prettier-ignore-start -->\n+([^]*?)\n+<!-- prettier-ignore-end -->/;
    expect(table.exec(page)?.[1]).toBe(settingsTable());
  });
});

test.each([
  ['127.0.0.1', true],
  ['127.8.8.8', true],
  ['localhost', true],
  ['::1', true],
  ['[::1]', true],
  ['0.0.0.0', false],
  ['::', false],
  ['127.0.0.1.example.com', false],
  ['192.168.1.1', false],
])('%s is loopback: %s', (host, expected) => {
  expect(isLoopbackHost(host)).toBe(expected);
});
