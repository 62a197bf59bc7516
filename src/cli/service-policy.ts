import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { errorCode } from '../shared/error-code.js';

/** Debian's packages ask this script whether a service may be started; one that an administrator wrote stays as it is. */
const SERVICE_POLICY = '/usr/sbin/policy-rc.d';

/**
 * Our policy forbids services while the installation that wrote it lives, and takes itself away as soon as it is asked
 * after that: whatever was killed, no package is kept from starting its service later. A process is known by its id and
 * its start time (field 22 of /proc/PID/stat), since ids are used again; a zombie (field 3) has ended.
 */
const MARK = '# Written by Quire while it installs a package; removes itself afterwards.';

/** Writes the policy for its own process, which then becomes the command; links are made whole or not at all. */
const WRAPPER = `
policy=$1; shift
start=$(cut -d ' ' -f 22 "/proc/$$/stat")
cat > "$policy.quire" <<END
#!/bin/sh
${MARK}
case "\\$(cut -d ' ' -f 3,22 /proc/$$/stat 2>/dev/null)" in [!ZX]*" $start") exit 101 ;; esac
rm -f "$policy" "$policy.quire"
exit 0
END
chmod 755 "$policy.quire"
ln -T "$policy.quire" "$policy" 2>/dev/null
rm -f "$policy.quire"
exec "$@"
`;

interface Installation {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly policy?: string;
}

/** Runs a package manager while Debian's packages are told not to start services. @returns whether it succeeded */
export function runWithoutServices({ command, args, env, policy = SERVICE_POLICY }: Installation): boolean {
  mendServicePolicy(policy);
  // Output goes to stderr: stdout belongs to what the user asked for.
  const { status } = spawnSync('/bin/sh', ['-c', WRAPPER, 'sh', policy, command, ...args], {
    stdio: ['ignore', 2, 2],
    env: { ...env },
  });
  mendServicePolicy(policy);
  return status === 0;
}

/** Removes the policy of an installation that was killed; a running one keeps its own. */
export function mendServicePolicy(policy = SERVICE_POLICY): void {
  for (const path of [policy, `${policy}.quire`]) if (isOurs(path)) spawnSync('/bin/sh', [path]);
}

function isOurs(path: string): boolean {
  try {
    return readFileSync(path, 'utf8').includes(MARK);
  } catch (error) {
    // Unreadable: not written by root for all to ask, as ours is.
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(errorCode(error) ?? '')) return false;
    throw error;
  }
}
