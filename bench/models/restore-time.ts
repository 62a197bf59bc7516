const METRIC = 'quire_models_state_restore_seconds';

/** Milliseconds that a restore took on average, from the metrics of the process with local models; null when it restored nothing. */
export function restoreMs(metrics: string): number | null {
  const valueOf = (name: string) =>
    Number(new RegExp(`^${METRIC}_${name} (\\S+)$`, 'm').exec(metrics)?.[1] ?? 0);
  const count = valueOf('count');
  return count === 0 ? null : (1_000 * valueOf('sum')) / count;
}
