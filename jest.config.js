// Tests import from src/ for its types and run what ships: the compiled files in dist/.
import { availableParallelism } from 'node:os';
import { sortTests } from './test/support/jest/sort-tests.mjs';

const files = sortTests();

const common = {
  testEnvironment: '<rootDir>/test/support/jest/environment.mjs',
  roots: ['<rootDir>/test'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$|/dist/.*\\.js$': '<rootDir>/test/support/jest/transform.mjs' },
  moduleNameMapper: {
    '^quire-client$': '<rootDir>/clients/typescript/dist/quire.js',
    '^quire-langchain$': '<rootDir>/clients/langchain/dist/quire-langchain.js',
    '^(?:\\.\\./)+src/(.*)\\.js$': '<rootDir>/dist/$1.js',
    '^(\\.{1,2}/(?!.*dist/).*)\\.js$': '$1',
  },
  modulePathIgnorePatterns: ['<rootDir>/.quire/'],
};

/** One Redis for each worker, while tests that need one run. */
const redis = {
  globalSetup: '<rootDir>/test/support/jest/redis-servers.mjs',
  globalTeardown: '<rootDir>/test/support/jest/stop-redis-servers.mjs',
};

/** A process that keeps the services which test files share. */
const services = {
  globalSetup: '<rootDir>/test/support/jest/service-keeper.mjs',
  globalTeardown: '<rootDir>/test/support/jest/stop-service-keeper.mjs',
  testEnvironment: '<rootDir>/test/support/jest/close-connections.mjs',
};

const alone = { runner: '<rootDir>/test/support/jest/one-at-a-time.mjs' };

export default {
  // Tests wait for a third of their time: two workers kept 1.2 of two cores busy.
  maxWorkers: availableParallelism() + 1,
  // A worker keeps what the modules of its files held: beyond this, another takes its place.
  workerIdleMemoryLimit: '1GB',
  reporters: ['default', '<rootDir>/test/support/jest/slowest-files.mjs'],
  testSequencer: '<rootDir>/test/support/jest/longest-first.mjs',
  // It only ends what hangs: most tests take seconds, but on a full machine several times as many. Jest takes this from
  // here alone: in a project it says nothing and changes nothing.
  testTimeout: 240_000,
  projects: [
    { ...common, displayName: 'pure', testMatch: files.pure },
    { ...common, ...redis, displayName: 'redis', testMatch: files.redis },
    { ...common, ...redis, displayName: 'long', testMatch: files.long },
    { ...common, ...services, displayName: 'e2e', testMatch: files.e2e },
    { ...common, ...redis, ...alone, displayName: 'alone', testMatch: files.alone },
    { ...common, ...services, ...alone, displayName: 'alone-e2e', testMatch: files.aloneE2e },
    { ...common, ...services, ...alone, displayName: 'trials', testMatch: files.trials },
  ],
};
