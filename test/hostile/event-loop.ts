/**
 * How long the API's event loop was held up since this was asked last, as it measures itself (`/metrics`): the 99th
 * percentile in milliseconds; null when it does not answer.
 */
export async function eventLoopDelay(url: string, authorization: string): Promise<number | null> {
  const signal = AbortSignal.timeout(10_000);
  const response = await fetch(`${url}/metrics`, { headers: { authorization }, signal }).catch(() => null);
  const text = (await response?.text()) ?? '';
  const seconds = /^nodejs_eventloop_lag_p99_seconds (\S+)/m.exec(text)?.[1];
  return seconds === undefined ? null : Math.round(Number(seconds) * 1_000);
}
