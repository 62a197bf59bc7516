// Preloaded: modules are found and changed by hooks.mjs.
import { register } from 'node:module';
import './runtime.mjs';

register('./hooks.mjs', import.meta.url);
