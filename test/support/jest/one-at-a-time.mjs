// Runs the files of a project one after another, after all others: for files that measure time, or whose limits a full
// machine reaches.
import { createRequire } from 'node:module';

// Jest's own, by the way of Jest: it is no dependency of ours.
const requireOfJest = createRequire(createRequire(import.meta.url).resolve('jest'));
const requireOfCli = createRequire(requireOfJest.resolve('@jest/core'));
const { default: TestRunner } = requireOfCli('jest-runner');

export default class OneAtATime extends TestRunner {
  constructor(configuration, context) {
    super({ ...configuration, maxWorkers: 1 }, context);
  }
}
