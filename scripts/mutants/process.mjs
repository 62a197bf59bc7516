// The process that runs tests: it is asked one thing at a time, and ended where it does not answer.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('run-tests.mjs', import.meta.url));
const preloaded = ['tsx', new URL('register.mjs', import.meta.url).href];

export class SilentError extends Error {}

export function startProcess(folder) {
  const child = fork(script, [], {
    execArgv: ['--no-warnings', ...preloaded.flatMap((each) => ['--import', each])],
    env: { ...process.env, QUIRE_MUTANTS_FOLDER: folder, JEST_WORKER_ID: '1' },
    stdio: ['ignore', 'ignore', process.env.QUIRE_MUTANTS_LOUD ? 'inherit' : 'ignore', 'ipc'],
  });
  return {
    /** @throws SilentError where it ends, or does not answer in time */
    ask: (message, milliseconds) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => end(new SilentError('silent')), milliseconds);
        const onMessage = (answer) => end(null, answer);
        const onExit = () => end(new SilentError('ended'));
        const end = (error, answer) => {
          clearTimeout(timer);
          child.off('message', onMessage);
          child.off('exit', onExit);
          if (error) reject(error);
          else resolve(answer);
        };
        child.on('message', onMessage);
        child.on('exit', onExit);
        child.send(message, () => undefined);
      }),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
