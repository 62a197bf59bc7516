import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ComposeFile, Service } from './compose-file.js';
import { podman, succeeds } from './podman.js';

const PROJECT = 'quire-try';
/** Compose would wait for its health check's own number of failures; a busy machine needs longer. */
const HEALTHY_MILLISECONDS = 300_000;

export type Stack = Awaited<ReturnType<typeof createStack>>;

/** Runs the services of a compose file as Compose would: in the order of their dependencies, each waited for. */
export async function createStack(file: ComposeFile, images: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), 'quire-compose-'));
  const replicas = new Map<string, number>();
  const nameOf = (service: string, number: number) => `${PROJECT}-${service}-${String(number)}`;
  const serviceOf = (name: string): Service => {
    const service = file.services[name];
    if (!service) throw new Error(`no service ${name}`);
    return service;
  };
  const namesOf = (service: string) =>
    Array.from({ length: replicas.get(service) ?? 0 }, (_, index) => nameOf(service, index + 1));

  const untilHealthy = async (service: string, names = namesOf(service)): Promise<void> => {
    const [, ...test] = serviceOf(service).healthcheck.test;
    const end = Date.now() + HEALTHY_MILLISECONDS;
    for (const name of names)
      while (!(await succeeds('exec', name, ...test))) {
        if (Date.now() > end)
          throw new Error(`${name} is not healthy: ${await podman('logs', '--tail', '20', name)}`);
        await sleep(300);
      }
  };
  /** Checks that it runs without root's rights, on files that it cannot change. */
  const checkConfinement = async (service: string): Promise<void> => {
    if (!serviceOf(service).read_only) return;
    for (const name of namesOf(service)) {
      const status = await podman('exec', name, 'cat', '/proc/1/status');
      if (/^Uid:\s+0\b/m.test(status)) throw new Error(`${name} runs as root`);
      if (!/^CapEff:\s+0+$/m.test(status)) throw new Error(`${name} has capabilities`);
      for (const path of ['/app/x', '/usr/local/x', '/etc/x'])
        if (await succeeds('exec', '--user', '0', name, 'sh', '-c', `: > ${path}`))
          throw new Error(`${name} can write ${path}`);
    }
  };
  const scale = async (service: string, count: number): Promise<void> => {
    const before = replicas.get(service) ?? 0;
    for (let number = before + 1; number <= count; number += 1)
      await podman(...runArguments(service, nameOf(service, number)));
    for (let number = before; number > count; number -= 1) {
      await stop(nameOf(service, number), service);
      await podman('rm', '--volumes', nameOf(service, number));
    }
    replicas.set(service, count);
    await untilHealthy(service);
  };
  const stop = (name: string, service: string) =>
    podman('stop', '--time', String(parseInt(serviceOf(service).stop_grace_period, 10)), name);

  const runArguments = (name: string, container: string): string[] => {
    const service = serviceOf(name);
    const flag = (option: string, values: readonly string[]) => values.flatMap((value) => [option, value]);
    return [
      'run',
      '--detach',
      '--name',
      container,
      '--network',
      PROJECT,
      '--network-alias',
      name,
      // Limits that runc may not set in every sandbox.
      '--ulimit',
      'nofile=1024:1024',
      '--ulimit',
      'nproc=1024:1024',
      '--log-driver',
      'k8s-file',
      '--memory',
      service.deploy.resources.limits.memory,
      '--stop-signal',
      service.stop_signal,
      '--restart',
      service.restart,
      ...(service.init ? ['--init'] : []),
      ...(service.read_only ? ['--read-only', '--read-only-tmpfs=false'] : []),
      ...flag('--tmpfs', service.tmpfs),
      ...flag(
        '--volume',
        service.volumes.map((volume) => (volume.includes(':') ? `${PROJECT}-${volume}` : volume)),
      ),
      ...flag(
        '--volume',
        service.configs.map(({ source, target }) => `${join(folder, source)}:${target}:ro`),
      ),
      ...flag('--cap-drop', service.cap_drop),
      ...flag(
        '--security-opt',
        service.security_opt.map((option) => option.replace(/:true$/, '')),
      ),
      ...flag('--publish', service.ports),
      ...flag(
        '--env',
        Object.entries(service.environment).map(([key, value]) => `${key}=${String(value)}`),
      ),
      images[service.image] ?? service.image,
      ...service.command,
    ];
  };

  return {
    namesOf,
    services: () => [...replicas.keys()],
    scale,
    untilHealthy,
    async checkConfinement(): Promise<void> {
      for (const service of replicas.keys()) await checkConfinement(service);
    },
    /** All services, each when those it depends on are healthy. */
    async up(): Promise<void> {
      await podman('network', 'create', PROJECT);
      for (const [source, { content }] of Object.entries(file.configs))
        await writeFile(join(folder, source), content, { mode: 0o644 });
      const waiting = new Set(Object.keys(file.services));
      while (waiting.size > 0) {
        const next = [...waiting].find((name) =>
          Object.keys(serviceOf(name).depends_on).every(
            (needed) => replicas.has(needed) && !waiting.has(needed),
          ),
        );
        if (next === undefined) throw new Error('services wait for each other');
        // An API is healthy only when workers serve its queues: it is waited for after them.
        await scaleWithoutWaiting(next);
        waiting.delete(next);
      }
      for (const service of replicas.keys()) await untilHealthy(service);
    },
    async restart(service: string, name: string): Promise<void> {
      await stop(name, service);
      await podman('start', name);
      await untilHealthy(service, [name]);
    },
    async kill(service: string, name: string): Promise<void> {
      await podman('kill', '--signal', 'KILL', name);
      // Nothing restarts it here, as podman does not after a kill of its own.
      await sleep(500);
      if ((await podman('inspect', '--format', '{{.State.Running}}', name)) !== 'true')
        await podman('start', name);
      await untilHealthy(service, [name]);
    },
    async stopAll(): Promise<void> {
      for (const service of [...replicas.keys()].reverse())
        for (const name of namesOf(service)) await stop(name, service);
    },
    async startAll(): Promise<void> {
      for (const service of replicas.keys()) for (const name of namesOf(service)) await podman('start', name);
      for (const service of replicas.keys()) await untilHealthy(service);
    },
    async remove(): Promise<void> {
      for (const service of replicas.keys())
        for (const name of namesOf(service))
          await succeeds('rm', '--force', '--time', '0', '--volumes', name);
      for (const volume of ['redis', 'objects'])
        await succeeds('volume', 'rm', '--force', `${PROJECT}-${volume}`);
      await succeeds('network', 'rm', '--force', PROJECT);
      await rm(folder, { recursive: true, force: true });
    },
  };

  async function scaleWithoutWaiting(service: string): Promise<void> {
    const count = serviceOf(service).deploy.replicas;
    for (let number = 1; number <= count; number += 1)
      await podman(...runArguments(service, nameOf(service, number)));
    replicas.set(service, count);
    if (Object.values(file.services).some(({ depends_on }) => service in depends_on) && service === 'redis')
      await untilHealthy(service);
  }
}
