import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
// @NOTE what a fresh context gives is untyped
const collect = runInNewContext('gc') as () => void;

/** Frees what nothing refers to any more, so that memory can be measured: when it happens by itself nobody can say. */
export function collectGarbage(): void {
  for (let n = 0; n < 3; n += 1) collect();
}
