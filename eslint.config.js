import { readdirSync } from 'node:fs';
import { createNodeResolver, importX } from 'eslint-plugin-import-x';
import * as regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';
import { commentOpenings } from './scripts/lint/comment-openings.mjs';

const adapters = 'src/shared/adapters';
const adapterNames = readdirSync(adapters).filter((name) => !name.endsWith('.ts'));
/** Adapters whose servers speak the protocols of others. */
const speaksLike = { 'local-models': ['./openai', './http-reranker'] };

/** The folders of src/index: each imports only those before it. Its other files are on top of all. */
const indexLayers = ['memory', 'scoring', 'vectors', 'postings', 'tables', 'masks', 'search'];
const onTopOfIndexLayers = ['memory-index.ts', 'index.ts'];

/** The imports that are refused; the table is in CONTRIBUTING.md. */
const zones = [
  {
    target: './src/readers',
    from: './src/!(readers)/**/*',
    except: ['**/src/shared/at.ts'],
    message: 'readers/ turns bytes into blocks and knows nothing of the rest.',
  },
  {
    target: './src/!(readers)/**/*',
    from: './src/readers',
    except: ['./index.ts'],
    message: 'The door of readers/ is its index.ts.',
  },
  {
    target: './src/index',
    from: './src/!(index)/**/*',
    except: ['**/src/shared/at.ts'],
    message: 'index/ searches what it is given and knows nothing of the rest.',
  },
  {
    target: './src/!(index)/**/*',
    from: './src/index',
    except: ['./index.ts'],
    message: 'The door of index/ is its index.ts.',
  },
  ...indexLayers.map((layer, place) => ({
    target: `./src/index/${layer}`,
    from: [...indexLayers.slice(place + 1), ...onTopOfIndexLayers].map((above) => `./src/index/${above}`),
    message: `A layer of index/ imports those below it: ${indexLayers.join(', ')}.`,
  })),
  {
    target: './src',
    from: './clients',
    message: 'Clients are for those who call the service.',
  },
  {
    target: './clients',
    from: './src',
    message: 'A client knows the service by its OpenAPI document alone.',
  },
  {
    target: './src/shared',
    from: ['./src/api', './src/workers', './src/cli', './src/reindex', './src/models'],
    message: 'shared/ serves all processes and knows none of them.',
  },
  {
    target: './src/api',
    from: ['./src/workers', './src/cli', './src/models'],
    message: 'api and workers meet only in shared/queues/ and in Redis.',
  },
  {
    target: './src/workers',
    from: ['./src/api', './src/cli', './src/models'],
    message: 'workers and api meet only in shared/queues/ and in Redis.',
  },
  {
    target: './src/reindex',
    from: ['./src/api', './src/workers', './src/cli', './src/models'],
    message: 'reindex meets the other processes only in Redis.',
  },
  {
    target: './src/models',
    from: ['./src/api', './src/workers', './src/cli', './src/reindex', './src/shared/adapters'],
    message: 'The process with local models is asked over HTTP alone.',
  },
  {
    target: './src/cli',
    from: ['./src/api', './src/workers', './src/reindex', './src/models', './src/shared/adapters'],
    message: 'cli/ starts the other processes; it does not import them.',
  },
  {
    target: ['./src/shared/!(create-*).ts', './src/shared/!(adapters)/**/*'],
    from: './src/shared/adapters',
    except: ['./registry.ts', './descriptor.ts'],
    message:
      'Only the create-….ts of shared/ and context.ts files name adapters; everything else knows the port, or asks the registry.',
  },
  {
    target: [
      './src/api/!(context).ts',
      './src/api/!(context)/**/*',
      './src/workers/!(context).ts',
      './src/workers/*/**/*',
      './src/reindex/!(context).ts',
    ],
    from: './src/shared/adapters',
    message: 'Only context.ts files name adapters; everything else knows the port.',
  },
  {
    target: './src/shared/adapters',
    from: './src/shared/create-*.ts',
    message: 'An adapter takes the values it needs, not the settings.',
  },
  {
    target: './src/shared/adapters/*/!(descriptor).ts',
    from: './src/shared/settings',
    message: 'Only the descriptor of an adapter reads settings; the adapter takes the values it needs.',
  },
  {
    target: './src/shared/adapters/*/*/**/*',
    from: './src/shared/settings',
    message: 'Only the descriptor of an adapter reads settings; the adapter takes the values it needs.',
  },
  ...adapterNames.map((name) => ({
    target: `./${adapters}/${name}/**/*`,
    from: `./${adapters}`,
    except: [`./${name}`, './descriptor.ts', ...(speaksLike[name] ?? [])],
    message: 'Adapters do not import each other.',
  })),
  {
    target: ['./src/api/routes', './src/api/protocols'],
    from: [
      './src/shared/redis',
      './src/api/context.ts',
      './src/api/context',
      './src/api/main.ts',
      './src/api/app.ts',
    ],
    message: 'A route knows its schemas and its service.',
  },
  {
    target: './src/api/services',
    from: [
      './src/api/http',
      './src/api/routes',
      './src/api/protocols',
      './src/api/view',
      './src/api/pages',
      './src/api/admin',
      './src/api/browser',
      './src/api/auth',
      './src/api/context.ts',
      './src/api/context',
      './src/api/main.ts',
      './src/api/app.ts',
    ],
    message: 'A service takes and returns values of the domain: it knows nothing of HTTP.',
  },
];

function forbidPackages(names, message) {
  const paths = names.map((name) => ({ name, message }));
  return { 'no-restricted-imports': ['error', { paths }] };
}

const redisPackages = ['redis', 'ioredis', 'bullmq'];

export default tseslint.config(
  // AssemblyScript: TypeScript's syntax with other types and meanings.
  { ignores: ['**/dist/', 'coverage/', '.quire/', 'src/**/*.as.ts', 'clients/typescript/src/openapi.ts'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ['./tsconfig.numbers.json', './clients/*/tsconfig.json', './tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    plugins: { 'import-x': importX },
    settings: {
      'import-x/resolver-next': [
        createNodeResolver({ extensions: ['.ts'], extensionAlias: { '.js': ['.ts'] } }),
      ],
      // Without these two, no-cycle follows no import.
      'import-x/extensions': ['.ts'],
      'import-x/parsers': { '@typescript-eslint/parser': ['.ts'] },
    },
    rules: {
      'import-x/no-restricted-paths': ['error', { zones }],
      // It leaves out type-only imports; scripts/check-circles.mjs follows those, too.
      'import-x/no-cycle': 'error',
      'import-x/no-default-export': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-unused-vars': [
        'error',
        // `const { secret, ...shown } = record` is how a property is left out.
        { varsIgnorePattern: '^_', argsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      // `() => done()` is as clear as with braces.
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // Text is cut and counted in code points, which is what spreading a string gives.
      '@typescript-eslint/no-misused-spread': ['error', { allow: ['string'] }],
      // An index signature and a `type` of the same shape are not the same to zod's and Express's types.
      '@typescript-eslint/consistent-type-definitions': 'off',
      // A literal inside a spread is not checked for properties that nobody asked for: a misspelt option compiles.
      'no-restricted-syntax': [
        'error',
        ...['SpreadElement > ObjectExpression.argument', 'SpreadElement > ArrayExpression.argument'].map(
          (selector) => ({
            selector,
            message: 'Write the properties or elements themselves.',
          }),
        ),
        // It takes windows-1252 for ISO 8859-1 in several versions of Node; UTF-8 is all that it decodes here.
        {
          selector:
            "NewExpression[callee.name='TextDecoder'] > .arguments:first-child:not(Literal[value='utf-8'])",
          message:
            'Text in other encodings is decoded by decodeAs (readers/encoding/), of unknown ones by decodeText.',
        },
      ],
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', 4],
    },
  },
  {
    files: ['src/**/*.ts', 'clients/*/src/**/*.ts'],
    plugins: { regexp },
    rules: {
      // Patterns meet clients' texts on the event loop, where one that backtracks stops the whole process. 'potential'
      // takes a pattern for slow also where no caller is known who lets it be.
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': [
        'error',
        { report: 'potential', ignoreSticky: true, ignorePartial: false },
      ],
      'max-lines-per-function': ['error', { max: 40, skipBlankLines: true, skipComments: true }],
      'no-console': 'error',
      'no-restricted-properties': [
        'error',
        ...['exit', 'exitCode', 'on', 'once'].map((property) => ({
          object: 'process',
          property,
          message: 'Only main.ts handles signals and exits.',
        })),
        { object: 'process', property: 'env', message: 'Settings are read once, in main.ts.' },
      ],
    },
  },
  {
    plugins: { house: { rules: { 'comment-openings': commentOpenings } } },
    rules: { 'house/comment-openings': 'error' },
  },
  {
    // Entry points and how they stop, the supervisor, and the parser's child process with its start.
    files: [
      'src/*/main.ts',
      'src/cli/supervisor-settings/main.ts',
      'src/shared/stop-process.ts',
      'src/cli/up.ts',
      'src/cli/reindex.ts',
      'src/workers/parse/child-main.ts',
      'src/workers/parse/child-process.ts',
    ],
    rules: { 'no-restricted-properties': 'off' },
  },
  {
    files: ['src/{readers,workers}/**/*.ts'],
    // `encoding/` decodes, and a page of a PDF is taken back to the bytes that it was read from.
    ignores: ['src/readers/encoding/**', 'src/readers/formats/pdf/judging/misread-text.ts'],
    rules: forbidPackages(['iconv-lite'], 'Text is decoded by decodeAs or decodeText (readers/encoding/).'),
  },
  { files: ['src/shared/**/*.ts'], rules: forbidPackages(['express'], 'shared/ knows nothing of HTTP.') },
  {
    files: ['src/api/{routes,protocols}/**/*.ts'],
    rules: forbidPackages(['express', ...redisPackages], 'A route knows its schemas and its service.'),
  },
  {
    files: ['src/api/services/**/*.ts'],
    rules: forbidPackages(['express'], 'A service knows nothing of HTTP.'),
  },
  {
    files: ['**/*.js', '**/*.mjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        Buffer: 'readonly',
        AbortController: 'readonly',
        AbortSignal: 'readonly',
        performance: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
      },
    },
    rules: { 'no-undef': 'error', 'no-unused-vars': 'error' },
  },
);
