import { once } from 'node:events';
import { readlink } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { at } from '../../../shared/at.js';
import { startConfined, type Launch, type User } from './start-confined.js';
import type { Workspace } from './workspace.js';

const CHECK = fileURLToPath(new URL('./self-check.js', import.meta.url));
const CHECK_MILLISECONDS = 30_000;

export interface ConfinementLogger {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
}

interface LaunchOptions {
  /** The user that parsers run as when the worker is root. */
  readonly user: User;
  readonly workspace: Workspace;
  readonly logger?: ConfinementLogger | undefined;
}

/**
 * Finds the strictest confinement in which parsers start on this machine, by trying, and logs it: an unprivileged user if
 * this process is root, no network, no way to gain privileges. A measure that the kernel, missing tools or file permissions
 * prevent is left out with a warning, because documents have to be parsed all the same.
 * @throws when no process can be started at all
 */
export async function chooseLaunch({ user, workspace, logger }: LaunchOptions): Promise<Launch> {
  const isRoot = process.getuid?.() === 0;
  const troubles: string[] = [];
  for (const launch of launches(isRoot ? user : null)) {
    const trouble = await tryLaunch(launch, workspace);
    if (trouble === null) {
      report(launch, { isRoot, troubles, logger });
      return launch;
    }
    troubles.push(trouble);
  }
  throw new Error(`no parser process can be started: ${at(troubles, troubles.length - 1)}`);
}

/** Lists the ways, the strictest first. Another user matters more than no network, because root could regain a network. */
function launches(user: User | null): Launch[] {
  const ways = [
    { hasNetwork: false, hasSetpriv: true },
    { hasNetwork: true, hasSetpriv: true },
    { hasNetwork: true, hasSetpriv: false },
  ] as const;
  const asOther = ways.flatMap((way) =>
    [false, true].map((isHandedOver) => ({ ...way, user, isHandedOver })),
  );
  const asSelf = ways.map((way) => ({ ...way, user: null, isHandedOver: false }));
  return user ? [...asOther, ...asSelf] : asSelf;
}

const foundSchema = z.object({
  uid: z.number().nullable(),
  groups: z.array(z.number()),
  network: z.string().nullable(),
});

/** Tries a launch. Resolves with the reason why it does not work; null when the process confirms its confinement. */
async function tryLaunch(launch: Launch, workspace: Workspace): Promise<string | null> {
  const folder = workspace.createFolder(launch.user);
  try {
    const child = startConfined(launch, {
      script: CHECK,
      folder: folder.path,
      // If the wrapper fails, or the path cannot be reached, the process ends here before Node.js starts.
      limits: ['ulimit -c 0', '[ -x "$1" ]'],
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), CHECK_MILLISECONDS);
    const [said, complaints] = await Promise.all([
      child.stdout ? text(child.stdout) : '',
      child.stderr ? text(child.stderr) : '',
      once(child, 'close'),
    ]).finally(() => {
      clearTimeout(timer);
    });
    if (child.exitCode !== 0) return firstLine(complaints) ?? `exit ${String(child.exitCode)}`;
    return await contradiction(launch, foundSchema.parse(JSON.parse(said)));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await folder.remove();
  }
}

async function contradiction(launch: Launch, found: z.infer<typeof foundSchema>): Promise<string | null> {
  const { user, hasNetwork } = launch;
  if (user && found.uid !== user.uid) return `the process runs as user ${String(found.uid)}`;
  if (user && found.groups.some((group) => group !== user.gid)) return 'the process keeps groups';
  const ours = await readlink('/proc/self/ns/net').catch(() => null);
  return !hasNetwork && found.network === ours ? 'the process keeps the network' : null;
}

function firstLine(output: string): string | null {
  return output.split('\n').find((line) => /error|cannot|denied|not |failed/i.test(line)) ?? null;
}

interface Finding {
  readonly isRoot: boolean;
  readonly troubles: readonly string[];
  readonly logger: ConfinementLogger | undefined;
}

function report({ user, hasNetwork, hasSetpriv }: Launch, { isRoot, troubles, logger }: Finding): void {
  const fields = { user: user?.uid ?? 'own', network: hasNetwork, noNewPrivileges: hasSetpriv };
  const lacks = [...(isRoot && !user ? ['run as root'] : []), ...(hasNetwork ? ['reach the network'] : [])];
  if (lacks.length === 0) logger?.info(fields, 'parser processes are confined');
  else
    logger?.warn({ ...fields, troubles: [...new Set(troubles)] }, `parser processes ${lacks.join(' and ')}`);
}
