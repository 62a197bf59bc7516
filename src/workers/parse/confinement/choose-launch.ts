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

interface Wish {
  /** Whom parsers run as where the worker is root. */
  readonly user: User;
  readonly workspace: Workspace;
  readonly logger?: ConfinementLogger | undefined;
}

/**
 * The strictest way in which parsers start on this machine, found by trying, and said in the log: another user without
 * privileges where this process is root, no network, no way to privileges. What the kernel, missing tools or the
 * permissions of our own folder prevent is left out with a warning, since documents must be read all the same.
 * @throws when no process can be started at all
 */
export async function chooseLaunch({ user, workspace, logger }: Wish): Promise<Launch> {
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

/** From the strictest on. To be another user matters more than to have no network: what root has includes both. */
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

/** @returns why it does not work; null when it does, seen from inside */
async function tryLaunch(launch: Launch, workspace: Workspace): Promise<string | null> {
  const folder = workspace.createFolder(launch.user);
  try {
    const child = startConfined(launch, {
      script: CHECK,
      folder: folder.path,
      // A wrapper that cannot do its part, and a path that cannot be reached, end here before Node.js starts.
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
