import { prepare } from './prepare.mjs';

prepare();
// The supervisor runs in this process, so that it gets signals directly and once.
process.argv = [...process.argv.slice(0, 2), 'up', ...process.argv.slice(2)];
await import('../dist/cli/main.js');
