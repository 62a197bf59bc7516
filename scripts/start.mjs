import { prepare } from './prepare.mjs';

prepare();
// In this very process, so that signals reach the supervisor once and directly.
process.argv = [...process.argv.slice(0, 2), 'up', ...process.argv.slice(2)];
await import('../dist/cli/main.js');
