import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const run = promisify(execFile);

test('trying the containers is skipped, with what is missing, where there is no podman', async () => {
  const { stdout } = await run(process.execPath, ['--import', 'tsx', 'test/containers/main.ts'], {
    env: { PATH: '/nonexistent' },
  });
  expect(stdout).toMatch(/^skipped: not installed: podman, buildah, runc, .*\(packages of Debian\)$/m);
});
