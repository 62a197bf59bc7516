import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { systemErrorCode } from '../shared/system-error-code.js';

/** Debian's packages run this script to learn whether a service may be started. One of an administrator is not changed. */
const SERVICE_POLICY = '/usr/sbin/policy-rc.d';

/**
 * Our policy forbids starting services while the installation that wrote it runs, and removes itself when it is run after
 * that. So it never prevents a later start, even if the installation was killed. A process is identified by its id and its
 * start time (field 22 of /proc/PID/stat), because ids are reused. A zombie (field 3) counts as ended.
 */
const MARK = '# Written by Quire while it installs a package; removes itself afterwards.';

/** Writes the policy for its own process, which then executes the command. The link makes the policy appear atomically. */
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

/** Runs a package manager with a policy that forbids starting services. @returns whether it succeeded */
export function runWithoutServices({ command, args, env, policy = SERVICE_POLICY }: Installation): boolean {
  mendServicePolicy(policy);
  // Output goes to stderr, because stdout is for the requested output.
  const { status } = spawnSync('/bin/sh', ['-c', WRAPPER, 'sh', policy, command, ...args], {
    stdio: ['ignore', 2, 2],
    env: { ...env },
  });
  mendServicePolicy(policy);
  return status === 0;
}

/** Removes the policy of an installation that was killed. That of a running installation stays. */
export function mendServicePolicy(policy = SERVICE_POLICY): void {
  for (const path of [policy, `${policy}.quire`]) if (isOurs(path)) spawnSync('/bin/sh', [path]);
}

function isOurs(path: string): boolean {
  try {
    return readFileSync(path, 'utf8').includes(MARK);
  } catch (error) {
    // Our policy is readable for everybody, so this one is not ours.
    const code = systemErrorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') return false;
    throw error;
  }
}
