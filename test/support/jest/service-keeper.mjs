// Jest runs this before and after the project that needs whole services: one process keeps those that test files share
// (test/support/shared/use-service.ts).
import { fork } from 'node:child_process';
import { once } from 'node:events';

let keeper;

/** Starts the keeper, and tells the workers where it is. */
export default async function startServiceKeeper() {
  keeper = fork(new URL('../shared/keeper.ts', import.meta.url), { execArgv: ['--import', 'tsx'] });
  const [{ address }] = await once(keeper, 'message');
  process.env.QUIRE_TEST_SERVICES = `http://127.0.0.1:${address.port}`;
}

export async function stopServiceKeeper() {
  const exited = once(keeper, 'exit');
  keeper.disconnect();
  await exited;
}
