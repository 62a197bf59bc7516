export { stopRedisServers as default } from './redis-servers.mjs';
