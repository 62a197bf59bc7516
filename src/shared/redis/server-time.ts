/**
 * A Lua function `serverTime` for scripts: the server's own time in ms, as a number. Scripts use it where the clocks of several
 * hosts may differ. Write it with `%d`, since Lua would write so large a number with an exponent.
 */
export const SERVER_TIME = `
local function serverTime()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
`;
