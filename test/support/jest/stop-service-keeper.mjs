export { stopServiceKeeper as default } from './service-keeper.mjs';
