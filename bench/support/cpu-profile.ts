/** The output of V8's sampling profiler, as far as it is read here. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  /** Microseconds since the sample before. */
  readonly timeDeltas: readonly number[];
}

interface FunctionTime {
  readonly package: string;
  readonly function: string;
  readonly milliseconds: number;
  /** The share of the time in which anything ran. */
  readonly percent: number;
}

const IDLE = new Set(['(idle)', '(root)']);

/** The functions that took most time themselves, without what they called, over all threads of a process. */
export function dearest(profiles: readonly CpuProfile[], count: number): FunctionTime[] {
  const times = new Map<string, { package: string; function: string; microseconds: number }>();
  let all = 0;
  for (const { nodes, samples, timeDeltas } of profiles) {
    const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
    samples.forEach((id, i) => {
      const frame = frames.get(id);
      const taken = timeDeltas[i];
      if (!frame || taken === undefined || IDLE.has(frame.functionName)) return;
      all += taken;
      const from = packageOf(frame.url);
      const name = `${frame.functionName || '(anonymous)'}${placeOf(frame)}`;
      const known = times.get(`${from} ${name}`) ?? { package: from, function: name, microseconds: 0 };
      known.microseconds += taken;
      times.set(`${from} ${name}`, known);
    });
  }
  return [...times.values()]
    .sort((a, b) => b.microseconds - a.microseconds)
    .slice(0, count)
    .map(({ microseconds, ...rest }) => ({
      ...rest,
      milliseconds: Math.round(microseconds / 1_000),
      percent: Math.round((microseconds / all) * 1_000) / 10,
    }));
}

/** Name of the npm package; `quire` for the project's own, `node` for what is built in. */
function packageOf(url: string): string {
  const inside = url.split('/node_modules/').at(-1);
  if (inside !== undefined && inside !== url)
    return inside
      .split('/')
      .slice(0, inside.startsWith('@') ? 2 : 1)
      .join('/');
  if (url.startsWith('file:')) return 'quire';
  return url.startsWith('wasm:') ? 'wasm' : 'node';
}

function placeOf({ url, lineNumber }: { url: string; lineNumber: number }): string {
  if (!url.startsWith('file:') && !url.startsWith('/')) return '';
  const path = url.split(/\/(?:dist|node_modules)\//).at(-1) ?? url;
  return ` ${path}:${String(lineNumber + 1)}`;
}
