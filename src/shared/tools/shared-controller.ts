import { setMaxListeners } from 'node:events';

/** Makes a controller whose signal any number may listen to at once. Node takes more than ten for a leak and warns of them. */
export function createSharedController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
