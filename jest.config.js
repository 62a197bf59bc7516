// Tests import from src/ for its types and run what ships: the compiled files in dist/.
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', { jsc: { target: 'es2022' }, module: { type: 'es6' } }] },
  moduleNameMapper: {
    '^(?:\\.{1,2}/)+src/(.*)\\.js$': '<rootDir>/dist/$1.js',
    '^(\\.{1,2}/(?!.*dist/).*)\\.js$': '$1',
  },
  modulePathIgnorePatterns: ['<rootDir>/.quire/'],
  testTimeout: 30_000,
};
