import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const script = fileURLToPath(new URL('../../support/hear-raw-parser.mjs', import.meta.url));

test.each([
  ['a line that is no JSON', 'this is no JSON\n'],
  ['a line without end', 'endless'],
  ['nothing at all on a line', '\n'],
  ['an acknowledgement that nobody waits for', '{"cmd":"NODE_HANDLE_NACK"}\n{"cmd":"NODE_HANDLE_ACK"}\n'],
])(
  'a parser that writes %s to its channel does not end its worker',
  (_name, written) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, written], { encoding: 'utf8' });
    expect({ status, stdout, stderr: stderr.slice(0, 200) }).toMatchObject({ status: 0, stdout: 'corrupt' });
  },
  30_000,
);
