import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';

const list = z.array(z.string()).default([]);
const environment = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({});

const serviceSchema = z.object({
  image: z.string(),
  profiles: list,
  command: list,
  environment,
  init: z.boolean().default(false),
  read_only: z.boolean().default(false),
  restart: z.string().default('no'),
  stop_signal: z.string().default('SIGTERM'),
  stop_grace_period: z.string().default('10s'),
  tmpfs: list,
  volumes: list,
  ports: list,
  cap_drop: list,
  security_opt: list,
  configs: z.array(z.object({ source: z.string(), target: z.string() })).default([]),
  depends_on: z.record(z.string(), z.object({ condition: z.literal('service_healthy') })).default({}),
  healthcheck: z.object({ test: z.array(z.string()).min(2) }),
  deploy: z.object({
    replicas: z.number().default(1),
    resources: z.object({ limits: z.object({ memory: z.string() }) }),
  }),
});
export type Service = z.infer<typeof serviceSchema>;

const fileSchema = z.object({
  services: z.record(z.string(), serviceSchema),
  configs: z.record(z.string(), z.object({ content: z.string() })),
});
export type ComposeFile = z.infer<typeof fileSchema>;

/**
 * Reads a compose file as Compose does, as far as ours goes: merges, variables, services of other profiles left out.
 * @throws on what it does not know
 */
export async function readComposeFile(
  path: string,
  variables: Record<string, string>,
  profiles: readonly string[] = [],
): Promise<ComposeFile> {
  const read: unknown = parse(await readFile(path, 'utf8'), { merge: true });
  const file = fileSchema.parse(interpolate(read, variables));
  const isWanted = ({ profiles: its }: Service) =>
    its.length === 0 || its.some((profile) => profiles.includes(profile));
  return {
    ...file,
    services: Object.fromEntries(Object.entries(file.services).filter(([, service]) => isWanted(service))),
  };
}

function interpolate(value: unknown, variables: Record<string, string>): unknown {
  if (typeof value === 'string') return fill(value, variables);
  if (Array.isArray(value)) return value.map((each) => interpolate(each, variables));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, interpolate(each, variables)]));
}

/** `$$`, `${NAME:-default}` and `${NAME:?reason}`. */
function fill(text: string, variables: Record<string, string>): string {
  return text.replace(
    /\$(?:\$|\{(\w+)(?::([-?])([^}]*))?\})/g,
    (_, name?: string, operator?: string, rest?: string) => {
      if (name === undefined) return '$';
      const value = variables[name] ?? '';
      if (value === '' && operator === '?') throw new Error(`${name}: ${rest ?? ''}`);
      return value === '' ? (rest ?? '') : value;
    },
  );
}
